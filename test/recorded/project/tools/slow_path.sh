#!/bin/sh
echo 'this script does not describe itself'
