#!/bin/sh
trap 'echo "{\"v\":1,\"type\":\"cancelled\",\"reason\":\"signal\"}"; exit 130' TERM
echo '{"v":1,"type":"start","step":"wait"}'
while :; do sleep 0.1; done
