#!/bin/sh
if [ -f "$WORKSPACE/tried" ]; then
  echo '{"v":1,"type":"result","status":"ok","result":"the second attempt works"}'
  exit 0
fi
touch "$WORKSPACE/tried"
echo '{"v":1,"type":"error","code":"E_SCHEMA_MISMATCH","msg":"items is missing","hint":"add items"}'
exit 30
