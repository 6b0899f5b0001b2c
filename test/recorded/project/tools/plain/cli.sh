#!/bin/sh
echo one
echo two
exit "${2:-0}"
