#!/bin/sh
secret=$(cat "$TOKEN_FILE")
echo "{\"v\":1,\"type\":\"log\",\"msg\":\"the token is $secret\"}"
echo "{\"v\":1,\"type\":\"result\",\"status\":\"ok\",\"result\":\"it is $secret\"}"
