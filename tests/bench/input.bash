# shellcheck shell=bash
# input.bash: what the measurements are made with; scripts/bench and instructions.bats source it.
#
#   bench_user_data SIZE         print cloud-config of exactly SIZE bytes (1024 or more)
#   bench_network_config         print a network-config of 500 bytes
#   bench_domain UUID [REQUEST]  print a domain as libvirt gives it to its hook, unwired; REQUEST is
#                                the content of its <cloud-init>, without it there is none
#   bench_seed_domain UUID SIZE  print the same with both documents, wired; needs virt-seed in PATH

bench_dir=${BASH_SOURCE[0]%/*}

bench_user_data() {
    # Characters are bytes here.
    local LC_ALL=C size=$1 number=0 text file

    text='#cloud-config
package_update: true
packages: [nginx, postgresql, "python3-psycopg2"]
users:
  - name: alice
    gecos: Alice Example
    groups: [adm, sudo]
    shell: /bin/bash
    sudo: "ALL=(ALL) NOPASSWD:ALL"
    ssh_authorized_keys:
      - ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8cY3Pz1vQ2m0yq6bq4c2VQm3m3Yx0l1o6cJ2H9d1nR alice
timezone: Etc/UTC
runcmd:
  - [systemctl, enable, --now, nginx]
  - ufw allow 443/tcp
write_files:
'
    # About 390 bytes each, as configuration files are.
    while file=$(bench_file "$number") && [[ $((${#text} + ${#file} + 80)) -lt $size ]]; do
        text+=$file$'\n'
        number=$((number + 1))
        # Large ones double: a loop over each file would take minutes.
        while [[ $number -ge 64 && $((2 * ${#text})) -lt $size ]]; do
            text+=${text#*write_files:$'\n'}
        done
    done
    text+='  - {path: /etc/example/last, content: "'
    printf '%s%*s"}\n' "$text" $((size - ${#text} - 3)) '' 
}

bench_file() {
    cat <<END_OF_FILE
  - path: /etc/example/$1.conf
    permissions: "0644"
    owner: root:root
    content: |
      # Example $1: one of several files of an ordinary size.
      [Service]
      Type=notify
      ExecStart=/usr/sbin/example --config /etc/example/$1.conf --log-level info
      Restart=on-failure
      RestartSec=5s
      Environment="LANG=C.UTF-8" "EXAMPLE_NUMBER=$1" "EXAMPLE_COLOUR=green"
END_OF_FILE
}

bench_network_config() {
    local text='version: 2
ethernets:
  lan:
    match: {macaddress: "52:54:00:3a:7c:01"}
    set-name: lan
    addresses: [192.0.2.17/24, "2001:db8::17/64"]
    routes:
      - {to: default, via: 192.0.2.1}
      - {to: "::/0", via: "2001:db8::1"}
    nameservers: {addresses: [192.0.2.53, 192.0.2.54], search: [example.org, example.net]}
    mtu: 1500
# '

    printf '%s%*s\n' "$text" $((499 - ${#text})) '' | sed '$s/ /-/2g'
}

bench_domain() {
    local text request=''

    if [[ $# -gt 1 ]]; then
        request="<ci:cloud-init xmlns:ci=\"urn:virt-seed:cloud-init:1\">$2</ci:cloud-init>"
    fi
    text=$(<"$bench_dir/domain.xml")
    text=${text//@NAME@/web1}
    text=${text//@UUID@/$1}
    printf '%s\n' "${text//@REQUEST@/"$request"}"
}

bench_seed_domain() {
    local user_data network_config

    user_data=$(bench_user_data "$2")
    network_config=$(bench_network_config)
    bench_domain "$1" "<ci:user-data>
$user_data
</ci:user-data>
<ci:network-config>
$network_config
</ci:network-config>" | virt-seed --quiet wire -
}
