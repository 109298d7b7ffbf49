#!/usr/bin/env bats
# import.bats: 'virt-seed import', in addition to the cases of tests/golden/import-*.
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
}

# machine VOLUME [SPEC] [METADATA]: prints the manifest of an instance with that cloud-init volume,
# and with more fields; each in YAML's flow style.
machine() {
    cat <<END
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: {name: web1, ${3-}}
spec: {volumes: [{name: c, ${1-}}], ${2-}}
END
}

user_data='cloudInitNoCloud: {userData: "#cloud-config\n"}'
volume='spec.volumes[0].cloudInitNoCloud'

# refuses PATTERN...: import refuses standard input with these words.
refuses() {
    run --separate-stderr virt-seed import kubevirt -
    only_stderr
    assert_refused 1 "$@" || {
        cat
        return 1
    }
}

# imported NAME: prints the content of this element in the output of the last 'run'.
imported() {
    xmllint --xpath "string(//*[local-name() = '$1'])" - <<<"$output"
}

# --- fields of KubeVirt's --------------------------------------------------------------------

@test "refuses a document of a volume that is not text" {
    local field value

    for field in userData userDataBase64 networkData networkDataBase64 vendorData vendorDataBase64; do
        for value in 1 1.5 yes '[a]' '{a: b}'; do
            machine "cloudInitNoCloud: {$field: $value}" | refuses "$volume.$field is " 'expected text'
        done
        machine "cloudInitNoCloud: {$field: a, $field: b}" | refuses 'line 4: duplicate key'
        machine "cloudInitNoCloud: {${field}s: a}" | refuses "$volume.${field}s is not a field"
    done
}

@test "refuses a document of a volume that is given twice" {
    local kind first second

    for kind in user network vendor; do
        first=secretRef
        if [[ $kind != user ]]; then
            first=${kind}DataSecretRef
        fi
        for second in "${kind}Data: a" "${kind}DataBase64: YQ=="; do
            machine "cloudInitNoCloud: {$first: {name: a}, $second}" |
                refuses "$volume has both ${second%%:*} and $first"
        done
        machine "cloudInitNoCloud: {${kind}Data: a, ${kind}DataBase64: YQ==}" |
            refuses "$volume has both ${kind}Data and ${kind}DataBase64"
    done
}

@test "refuses malformed base64" {
    local value

    for value in 'a' 'YQ' 'Y-_=' '"YQ==YQ=="' 'Y Q*='; do
        machine "cloudInitNoCloud: {userDataBase64: $value}" |
            refuses "$volume.userDataBase64 is not base64" 'base64 FILE'
    done
}

@test "refuses a malformed reference to a secret" {
    local field value

    for field in secretRef networkDataSecretRef vendorDataSecretRef metaDataSecretRef; do
        for value in name 1 '[name]'; do
            machine "cloudInitNoCloud: {$field: $value}" |
                refuses "$volume.$field is " 'expected a mapping'
        done
        machine "cloudInitNoCloud: {$field: {}}" | refuses "$volume.$field.name is missing"
        machine "cloudInitNoCloud: {$field: {name: 1}}" | refuses "$volume.$field.name is a number"
        machine "cloudInitNoCloud: {$field: {name: ''}}" | refuses "$volume.$field.name is missing"
        machine "cloudInitNoCloud: {$field: {name: a, optional: true}}" |
            refuses "$volume.$field.optional is not a field"
        for value in ../a a/b ..a 'a b' "$(printf 'a%.0s' {1..254})"; do
            machine "cloudInitNoCloud: {$field: {name: '$value'}}" |
                refuses "$volume.$field: " 'is not a valid secret name'
        done
    done
}

@test "refuses metadata that no seed could have" {
    local key long

    for key in instance-id instance-type local-hostname public-keys; do
        machine "cloudInitNoCloud: {metaData: {$key: a}}" |
            refuses "$volume.metaData.$key is a generated key"
    done
    for key in instance_id instance_type local_hostname hostname uuid devices public_keys; do
        machine "cloudInitConfigDrive: {metaData: {$key: a}}" |
            refuses "cloudInitConfigDrive.metaData.$key is a generated key"
    done
    machine 'cloudInitNoCloud: {metaData: [a]}' | refuses "$volume.metaData is a list, expected a mapping"
    for key in 1 yes '' '[b]'; do
        machine "cloudInitNoCloud: {metaData: {a: $key}}" | refuses "$volume.metaData.a is "
    done
    machine 'cloudInitNoCloud: {metaData: {a: "\x01"}}' | refuses "$volume.metaData.a has control characters"
    machine 'cloudInitNoCloud: {metaData: {a: "\uFFFF"}}' | refuses "$volume.metaData.a has control characters"
    machine 'cloudInitNoCloud: {metaData: {"a\x1b": b}}' | refuses 'has control characters'
    machine 'cloudInitNoCloud: {metaData: {"": b}}' | refuses 'request is invalid: <entry> needs a name= of 1 to 256 characters'
    machine "cloudInitNoCloud: {metaData: {a: b, a: c}}" | refuses 'line 4: duplicate key'
    long=$(printf 'a%.0s' {1..257})
    machine "cloudInitNoCloud: {metaData: {? $long : b}}" | refuses 'request is invalid: <entry> needs a name= of 1 to 256 characters'
    long=$(printf 'a%.0s' {1..65537})
    machine "cloudInitNoCloud: {metaData: {a: $long}}" | refuses 'request is invalid: <entry> has a value of more than 64 KiB'
    long=$(printf 'k%s: v, ' {1..257})
    machine "cloudInitNoCloud: {metaData: {$long}}" | refuses 'request is invalid: <entry> occurs too many times'
}

@test "refuses a volume without content" {
    local source

    for source in '' 'userData: ""' 'userData: ' 'metaData: {}'; do
        machine "cloudInitNoCloud: {$source}" | refuses "$volume has no content"
    done
    machine 'cloudInitNoCloud: text' | refuses "$volume is text, expected a mapping"
    machine 'cloudInitNoCloud: ' | refuses 'spec.volumes has no cloud-init volume'
}

@test "refuses malformed fields around the volume" {
    local entry

    while IFS='|' read -r spec entry; do
        machine "$user_data" "$spec" | refuses "$entry"
    done <<'END'
hostname: 1|spec.hostname is a number, expected text
hostname: "web_1"|spec.hostname: 'web_1' is not a valid host name
hostname: "a\nb"|is not a valid host name
hostname: "192.0.2.1"|'192.0.2.1' is not a valid host name
domain: []|spec.domain is a list
domain: {firmware: a}|spec.domain.firmware is text
domain: {firmware: {uuid: 7}}|spec.domain.firmware.uuid is a number
domain: {firmware: {uuid: web1}}|spec.domain.firmware.uuid is not a UUID
domain: {firmware: {serial: 7}}|spec.domain.firmware.serial is a number
accessCredentials: {}|spec.accessCredentials is a mapping, expected a list
accessCredentials: [a]|spec.accessCredentials[0] is text
accessCredentials: [{sshKey: {}}]|spec.accessCredentials[0].sshKey is not a field
accessCredentials: [{sshPublicKey: {}}]|spec.accessCredentials[0].sshPublicKey.propagationMethod does not have exactly one method
accessCredentials: [{sshPublicKey: {propagationMethod: {noCloud: {}, configDrive: {}}}}]|does not have exactly one method
accessCredentials: [{sshPublicKey: {propagationMethod: {cloud: {}}}}]|sshPublicKey.propagationMethod.cloud is not a field
accessCredentials: [{sshPublicKey: {propagationMethod: {configDrive: {}}}}]|does not match the kind of cloud-init volume
accessCredentials: [{sshPublicKey: {propagationMethod: {noCloud: {}}}}]|sshPublicKey.source.secret.secretName is missing
accessCredentials: [{sshPublicKey: {propagationMethod: {noCloud: {}}, source: {secret: {}}}}]|sshPublicKey.source.secret.secretName is missing
accessCredentials: [{sshPublicKey: {propagationMethod: {noCloud: {}}, source: {secret: {name: a}}}}]|sshPublicKey.source.secret.name is not a field
accessCredentials: [{sshPublicKey: {propagationMethod: {noCloud: {}}, source: {map: {}}}}]|sshPublicKey.source.map is not a field
accessCredentials: [{sshPublicKey: {propagationMethod: {noCloud: {}}, source: {secret: {secretName: a/b}}}}]|sshPublicKey.source: secret="a/b" is not a valid secret name
accessCredentials: [{sshPublicKey: {propagationMethod: {noCloud: {}}, users: [a]}}]|sshPublicKey.users is not a field
END
    machine '' 'accessCredentials: [{sshPublicKey: {propagationMethod: {noCloud: {}}}}]' \
        'annotations: {imds.kubevirt.io/enabled: "true"}' |
        refuses 'sshPublicKey.propagationMethod needs a cloud-init volume'
    machine 'cloudInitConfigDrive: {userData: a}' \
        'accessCredentials: [{sshPublicKey: {propagationMethod: {noCloud: {}}}}]' |
        refuses 'does not match the kind of cloud-init volume' 'configDrive: {}'
}

@test "refuses malformed annotations" {
    machine "$user_data" '' 'annotations: []' | refuses 'metadata.annotations is a list'
    machine "$user_data" '' 'annotations: {kubevirt.io/instancetype-name: 1}' |
        refuses 'metadata.annotations["kubevirt.io/instancetype-name"] is a number'
    machine "$user_data" '' 'annotations: {kubevirt.io/instancetype-name: "a\x01"}' |
        refuses 'the name of the instance type is not a single word'
    machine '' '' 'annotations: {imds.kubevirt.io/enabled: true}' |
        refuses 'metadata.annotations["imds.kubevirt.io/enabled"] is true or false, expected text'
    machine '' '' 'annotations: {imds.kubevirt.io/user-data: [a]}' | refuses 'is a list, expected text'
}

@test "refuses documents that are not manifests" {
    local field

    for field in apiVersion kind metadata spec; do
        machine "$user_data" | sed "s/^$field: .*/$field: 1/" | refuses "$field is a number, expected"
    done
    machine "$user_data" | sed '/^spec/d' | refuses 'spec is missing'
    machine "$user_data" | sed 's/name: web1/name: 1/' | refuses 'metadata.name is a number'
    machine "$user_data" | sed 's/^spec: .*/spec: {volumes: {}}/' |
        refuses 'spec.volumes is a mapping, expected a list'
    machine "$user_data" | sed 's/^spec: .*/spec: {volumes: [c]}/' | refuses 'spec.volumes[0] is text'
    printf 'text\n' | refuses 'document 1: not a mapping'
    printf 'apiVersion: v1\nkind: List\nitems: [{}]\n' | refuses 'document 1: items[0].apiVersion is missing'
}

@test "copies text unchanged, and encodes what XML cannot hold as base64" {
    run -0 virt-seed import kubevirt - < <(machine 'cloudInitNoCloud: {userData: "#!/bin/sh\n# \xe4 ]]> & \u2028\n"}')
    [[ $(imported user-data) == $'#!/bin/sh\n# \u00e4 ]]> & \u2028' ]]
    machine 'cloudInitNoCloud: {userData: "a\x00"}' | refuses 'a text has a NUL character'
    # YAML and bash escape these in the same way.
    for text in 'a\x07' '\na' ' \na' 'a\n ' ' ' 'a\r\n' 'a\uFFFE'; do
        run -0 --separate-stderr virt-seed import kubevirt - < <(machine "cloudInitNoCloud: {userData: \"$text\"}")
        assert_said 'encoding="base64"'
        [[ "$(imported user-data | base64 -d)x" == "$(printf '%b' "$text")x" ]]
    done
}

# --- secrets ---------------------------------------------------------------------------------

with_secret() {
    machine 'cloudInitNoCloud: {secretRef: {name: web1}}'
    cat <<END
---
{apiVersion: v1, kind: Secret, metadata: {name: web1, ${2-}}, ${1-"stringData: {userdata: hunter2}"}}
---
{apiVersion: v1, kind: Secret, metadata: {name: other}, stringData: {userdata: hunter2}}
END
}

@test "writes nothing without --secrets, and says which secrets are needed" {
    run -0 --separate-stderr virt-seed --root="$root" import kubevirt - < <(with_secret)
    [[ $stderr == *"note: secret 'web1' must be in $confdir/secrets/web1: --secrets writes it"* ]]
    [[ $output$stderr != *hunter2* && ! -e $root$confdir/secrets ]]
    run -0 --separate-stderr virt-seed --quiet --root="$root" import kubevirt - < <(with_secret)
    [[ -z $stderr ]]
}

@test "--secrets writes only the secrets that the machine refers to, with mode 0600" {
    local data='data: {userdata: aHVudGVyMgo=, more: AAE=, over: eA==}, stringData: {over: "y"}, type: Opaque'

    run -0 --separate-stderr virt-seed --root="$root" import --secrets kubevirt - < <(with_secret "$data")
    [[ $output$stderr != *hunter2* ]]
    cd "$root$confdir/secrets"
    [[ $(find . -printf '%m %p\n' | sort) == '600 ./web1/more
600 ./web1/over
600 ./web1/userdata
700 .
700 ./web1' ]]
    [[ $(<web1/userdata) == hunter2 && $(<web1/over) == y && $(od -An -tx1 web1/more) == ' 00 01' ]]
}

@test "--secrets can be repeated after the element could not be written" {
    run -1 virt-seed --root="$root" import --secrets -o none/out.xml kubevirt - < <(with_secret)
    [[ $(<"$root$confdir/secrets/web1/userdata") == hunter2 ]]
    run -0 virt-seed --root="$root" import --secrets kubevirt - < <(with_secret)
}

@test "--secrets creates nothing for a secret that is not in the file" {
    run -0 virt-seed --root="$root" import --secrets kubevirt - < <(machine 'cloudInitNoCloud: {secretRef: {name: a}}')
    assert_said "secret 'a' is not in the file: put it into $confdir/secrets/a, a file for each key"
    [[ ! -e $root$confdir/secrets ]]
}

@test "--secrets keeps identical secrets, and writes nothing if one differs" {
    make_secret web1 userdata hunter2
    run -0 virt-seed --root="$root" import --secrets kubevirt - < <(with_secret)
    make_secret web1 userdata different
    run -1 --separate-stderr virt-seed --root="$root" import --secrets kubevirt - \
        < <(with_secret 'stringData: {a: b, userdata: hunter2}')
    only_stderr
    assert_refused 1 "$confdir/secrets/web1/userdata already exists with other content"
    [[ $(ls "$root$confdir/secrets/web1") == userdata && $(<"$root$confdir/secrets/web1/userdata") == different ]]
    [[ $output != *hunter2* && $output != *different* ]]
}

@test "--secrets adds no key to a secret that exists" {
    make_secret web1 other-key kept
    run -1 --separate-stderr virt-seed --root="$root" import --secrets kubevirt - < <(with_secret)
    only_stderr
    assert_refused 1 "$confdir/secrets/web1 already exists, without the key 'userdata'"
    [[ $(ls "$root$confdir/secrets/web1") == other-key ]]
}

@test "--secrets follows no link, and writes nothing into directories open to others" {
    mkdir -p "$root$confdir/secrets" elsewhere
    chmod 0700 "$root$confdir/secrets" elsewhere
    ln -s "$PWD/elsewhere" "$root$confdir/secrets/web1"
    run virt-seed --root="$root" import --secrets kubevirt - < <(with_secret)
    assert_refused 1 "$confdir/secrets/web1"
    [[ -z $(ls elsewhere) ]]
    rm "$root$confdir/secrets/web1"
    chmod 0755 "$root$confdir/secrets"
    run virt-seed --root="$root" import --secrets kubevirt - < <(with_secret)
    assert_refused 1 'others may read or write it'
}

@test "refuses malformed Secrets" {
    local secret

    while IFS='|' read -r secret entry; do
        with_secret "$secret" | refuses "$volume.secretRef: Secret 'web1': " "$entry"
        [[ $output != *hunter2* ]]
    done <<'END'
data: [hunter2]|data is a list
data: {userdata: 1}|data.userdata is a number
data: {userdata: "hunter2*"}|data.userdata is not base64
stringData: {userdata: 7}|stringData.userdata is a number
stringData: {a/b: hunter2}|is not a valid secret name
stringData: {"..data": hunter2}|is not a valid secret name
stringData: {allow: hunter2}|is the list of domains
type: Opaque|no keys
stringData: {user: hunter2}|no key 'userdata'
string: {user: hunter2}|string is not a field
END
}

@test "ignores Secrets of another namespace" {
    run -0 virt-seed --root="$root" import --secrets kubevirt - < <(with_secret 'stringData: {userdata: a}' 'namespace: b' |
        sed 's/name: web1, }$/name: web1, namespace: a}/')
    assert_said "secret 'web1' is not in the file"
}

# --- the command ------------------------------------------------------------------------------

@test "prints how to call import" {
    run virt-seed import
    assert_refused 2 'virt-seed import [OPTION]… [kubevirt|ovirt|seed] FILE|-'
    run virt-seed import vmware x
    assert_refused 2 "cannot import from 'vmware'"
    run virt-seed import kubevirt
    assert_refused 1 "could not read 'kubevirt'" 'give the file to import'
    run virt-seed import kubevirt a b
    assert_refused 2 "unexpected argument 'b'"
    run virt-seed import --set a -o b kubevirt c
    assert_refused 2 '--set and --output cannot be combined'
    run virt-seed import --replace kubevirt c
    assert_refused 2 '--replace needs --set'
    run virt-seed import --dry-run kubevirt c
    assert_refused 2 '--dry-run needs --set'
    run virt-seed import kubevirt none.yaml
    assert_refused 1 "could not read 'none.yaml'"
    run virt-seed import kubevirt .
    assert_refused 1 "could not read '.'"
}

@test "tells KubeVirt's files from oVirt's by their content" {
    machine "$user_data" >in.yaml
    diff <(virt-seed import in.yaml) <(virt-seed import kubevirt in.yaml)
    diff <(virt-seed import - <in.yaml) <(virt-seed import kubevirt in.yaml)
    echo '<vm><initialization><host_name>web1</host_name></initialization></vm>' >in.xml
    diff <(virt-seed import in.xml) <(virt-seed import ovirt in.xml)
    cp in.xml ovirt
    diff <(virt-seed import ovirt) <(virt-seed import ovirt in.xml)
}

@test "--output writes the element to a file with mode 0600" {
    machine "$user_data" >in.yaml
    run -0 --separate-stderr virt-seed import -o out.xml kubevirt in.yaml
    [[ -z $output && $(stat -c %a out.xml) == 600 ]]
    diff out.xml <(virt-seed import kubevirt in.yaml)
}

@test "every printed element is valid by the schema" {
    for element in "$top_srcdir"/tests/golden/import-*/*/out.xml; do
        run -0 xmllint --noout --relaxng "$top_srcdir/xml/cloud-init.rng" "$element"
    done
}

# --- limits -----------------------------------------------------------------------------------

# frugally COMMAND...: with ten seconds of processor time. The memory has no limit, because sanitizers need
# too much.
frugally() {
    (
        ulimit -t 10
        "$@"
    )
}

@test "reads 4 MiB, the limit, in bounded time" {
    {
        machine | head -n -1
        printf 'spec: {volumes: [{name: c, cloudInitNoCloud: {userData: "#!/bin/sh\\n'
        head -c $((4 * 1024 * 1024 - 1000)) /dev/zero | tr '\0' a
        printf '"}}]}\n'
    } >large.yaml
    run -0 frugally virt-seed import -o out.xml kubevirt large.yaml
    [[ $(stat -c %s out.xml) -gt $((4 * 1024 * 1024 - 2000)) ]]
    head -c 1000 /dev/zero | tr '\0' '#' >>large.yaml
    run frugally virt-seed import kubevirt large.yaml
    assert_refused 1 'has more than 4 MiB'
    {
        echo '<vm><initialization><custom_script>'
        head -c $((4 * 1024 * 1024 - 1000)) /dev/zero | tr '\0' '#'
        echo '</custom_script></initialization></vm>'
    } >large.xml
    run -0 frugally virt-seed import -o out.xml ovirt large.xml
}

@test "refuses alias bombs and deep nesting in bounded time" {
    {
        machine "$user_data"
        echo 'a0: &a0 {a: b}'
        for i in {1..30}; do
            echo "a$i: &a$i [*a$((i - 1)), *a$((i - 1)), *a$((i - 1))]"
        done
    } | frugally refuses 'with its aliases'
    { machine "$user_data" && printf 'deep: ' && printf '[%.0s' {1..5000}; } | frugally refuses 'nested deeper than 64 levels'
    { machine "$user_data" && printf 'wide: [' && printf 'a,%.0s' {1..500001}; } | frugally refuses 'more than 500000 values'
    { printf '<vm>%.0s' {1..5000} && printf '</vm>%.0s' {1..5000}; } >deep.xml
    run frugally virt-seed import ovirt deep.xml
    assert_refused 1
    {
        echo '<vm><initialization><nic_configurations>'
        printf '<nic_configuration/>%.0s' {1..150000}
        echo '</nic_configurations></initialization></vm>'
    } >wide.xml
    run frugally virt-seed import ovirt wide.xml
    assert_refused 1 '/vm/initialization/nic_configurations has more than 1000 elements'
    printf '<!DOCTYPE vm [<!ENTITY a "aaaa">]><vm>&a;</vm>' >entity.xml
    run virt-seed import ovirt entity.xml
    assert_refused 1 'document type declaration'
}
