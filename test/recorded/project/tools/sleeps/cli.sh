#!/bin/sh
echo '{"v":1,"type":"start","step":"sleep"}'
exec sleep 60
