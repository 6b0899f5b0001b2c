#!/bin/sh
# Takes a while, so that there is time to kill somebody.
text=$2
echo '{"v":1,"type":"start","step":"count"}'
sleep 1
set -- $text
echo "{\"v\":1,\"type\":\"result\",\"status\":\"ok\",\"result\":$#}"
