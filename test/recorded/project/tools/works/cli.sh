#!/bin/sh
echo '{"v":1,"type":"start","step":"work","args":{}}'
echo '{"v":1,"type":"progress","step":"work","pct":50,"msg":"half"}'
echo '{"v":1,"type":"log","level":"warn","msg":"careful"}'
echo 'not an event'
echo "{\"v\":1,\"type\":\"result\",\"status\":\"ok\",\"result\":{\"name\":\"$2\"},\"metrics\":{\"rows\":3}}"
