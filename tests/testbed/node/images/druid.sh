#!/usr/bin/env bash
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Starts a server of Druid as the script of the official image does: /druid.sh SERVER.
# The configuration of /opt/druid/conf is copied, because mounts are read-only, and extended by variables:
#   druid_*                                   properties, with _ for .
#   DRUID_XMX, DRUID_XMS, DRUID_MAXDIRECTMEMORYSIZE   options of the JVM
#   DRUID_LOG4J, DRUID_LOG_LEVEL              the configuration of the log
#   DRUID_SET_HOST=0                          druid.host is not the address of the pod
#   DRUID_DIRS_TO_CREATE                      directories, by default those of the default configuration
set -euo pipefail

server=$1
cluster=/tmp/conf/druid/cluster
common=$cluster/_common

directory_of() {
    case $1 in
    historical | middleManager | indexer) echo "data/$1" ;;
    coordinator | overlord) echo master/coordinator-overlord ;;
    broker | router) echo "query/$1" ;;
    *) echo "misc/$1" ;;
    esac
}

# What Druid's own bin/run-java sets.
access=(
    --add-exports=java.base/jdk.internal.misc=ALL-UNNAMED
    --add-exports=java.base/jdk.internal.ref=ALL-UNNAMED
    --add-opens=java.base/java.nio=ALL-UNNAMED
    --add-opens=java.base/sun.nio.ch=ALL-UNNAMED
    --add-opens=java.base/jdk.internal.ref=ALL-UNNAMED
    --add-opens=java.base/java.io=ALL-UNNAMED
    --add-opens=java.base/java.lang=ALL-UNNAMED
    --add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED
)
own=$cluster/$(directory_of "$server")
properties=$own/runtime.properties

set_property() {
    local pattern=${1//./\\.}
    sed -i "/^$pattern=/d" "$common/common.runtime.properties" "$properties"
    printf '\n%s=%s\n' "$1" "$2" >>"$properties"
}

set_option() {
    if [[ -n $2 ]]; then
        sed -i "/^$1/d" "$own/jvm.config"
        printf '%s%s\n' "$1" "$2" >>"$own/jvm.config"
    fi
}

echo "$(date --iso-8601=seconds) startup service $server"
rm -rf /tmp/conf/druid
mkdir -p /tmp/conf
cp -rL /opt/druid/conf/druid /tmp/conf/druid
chmod -R u+w /tmp/conf/druid
mkdir -p "$common" "$own"
touch "$common/common.runtime.properties" "$properties" "$own/jvm.config"

if [[ ${DRUID_SET_HOST:-1} == 1 ]]; then
    address=$(hostname -i)
    set_property druid.host "${address%% *}"
fi
while IFS= read -r -d '' variable; do
    if [[ $variable == druid_* ]]; then
        name=${variable%%=*}
        set_property "${name//_/.}" "${variable#*=}"
    fi
done < <(env -0)

set_option -Xmx "${DRUID_XMX:-}"
set_option -Xms "${DRUID_XMS:-}"
set_option -XX:MaxDirectMemorySize= "${DRUID_MAXDIRECTMEMORYSIZE:-}"
if [[ -n ${DRUID_LOG4J:-} ]]; then printf '%s\n' "$DRUID_LOG4J" >"$common/log4j2.xml"; fi
if [[ -n ${DRUID_LOG_LEVEL:-} ]]; then sed -i "s/\"info\"/\"$DRUID_LOG_LEVEL\"/g" "$common/log4j2.xml"; fi

read -ra directories <<<"${DRUID_DIRS_TO_CREATE-var/tmp var/druid/segments var/druid/indexing-logs var/druid/task var/druid/segment-cache}"
if [[ -n ${directories[*]} ]]; then mkdir -p "${directories[@]}"; fi

mapfile -t options < <(grep --invert-match --extended-regexp '^\s*(#|$)' "$own/jvm.config")
read -ra more <<<"${JAVA_OPTS:-}"
exec java "${access[@]}" "${options[@]}" "${more[@]}" -cp "$common:$own:lib/*" org.apache.druid.cli.Main server "$server"
