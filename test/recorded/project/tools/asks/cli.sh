#!/bin/sh
echo '{"v":1,"type":"start","step":"ask"}'
echo '{"v":1,"type":"action_required","action":"choose_strategy","context":{"id":"q1","prompt":"Which way?","options":["left","right"]}}'
read -r answer || exit 30
echo "{\"v\":1,\"type\":\"result\",\"status\":\"ok\",\"result\":$answer}"
