# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# input.bash: what is measured with; scripts/bench and instructions.bats source it.
#
#   bench_user_data SIZE         print cloud-config of exactly SIZE bytes, 1024 or more
#   bench_network_config         print a network-config of 500 bytes
#   bench_domain UUID [REQUEST]  print a domain as libvirt gives it to its hook, unwired; REQUEST is
#                                the content of its <cloud-init>, without it there is none
#   bench_seed_domain UUID SIZE  print the same with both documents, wired; needs virt-seed in PATH

bench_dir=${BASH_SOURCE[0]%/*}

# Users, packages, commands, and as many files of an ordinary size as there is room for.
bench_user_data() {
    LC_ALL=C awk -v size="$1" '
        function put(text) {
            printf "%s", text
            size -= length(text)
        }
        function file(number) {
            return "  - path: /etc/example/" number ".conf\n" \
                "    permissions: \"0644\"\n" \
                "    owner: root:root\n" \
                "    content: |\n" \
                "      # Example " number ": one of several files of an ordinary size.\n" \
                "      [Service]\n" \
                "      Type=notify\n" \
                "      ExecStart=/usr/sbin/example --config /etc/example/" number ".conf\n" \
                "      Restart=on-failure\n" \
                "      RestartSec=5s\n" \
                "      Environment=\"LANG=C.UTF-8\" \"EXAMPLE_NUMBER=" number "\"\n"
        }
        BEGIN {
            put("#cloud-config\n" \
                "package_update: true\n" \
                "packages: [nginx, postgresql, \"python3-psycopg2\"]\n" \
                "users:\n" \
                "  - name: alice\n" \
                "    gecos: Alice Example\n" \
                "    groups: [adm, sudo]\n" \
                "    shell: /bin/bash\n" \
                "    sudo: \"ALL=(ALL) NOPASSWD:ALL\"\n" \
                "timezone: Etc/UTC\n" \
                "runcmd:\n" \
                "  - [systemctl, enable, --now, nginx]\n" \
                "  - ufw allow 443/tcp\n" \
                "write_files:\n")
            for (number = 1; length(file(number)) + 80 < size; number++)
                put(file(number))
            put("  - path: /etc/example/last.conf\n")
            put("    content: \"")
            printf "%*s\"\n", size - 2, ""
        }'
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
#'

    printf '%s%*s.\n' "$text" $((498 - ${#text})) ''
}

bench_domain() {
    local text request=''

    if [[ $# -gt 1 ]]; then
        request="<ci:cloud-init xmlns:ci=\"urn:virt-seed:cloud-init:1\">$2</ci:cloud-init>"
    fi
    text=$(<"$bench_dir/domain.xml")
    text=${text//@NAME@/web1}
    text=${text//@UUID@/$1}
    printf '%s\n' "${text/@REQUEST@/"$request"}"
}

bench_seed_domain() {
    bench_domain "$1" "<ci:user-data>
$(bench_user_data "$2")
</ci:user-data>
<ci:network-config>
$(bench_network_config)
</ci:network-config>" | virt-seed --quiet wire -
}
