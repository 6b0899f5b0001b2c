#!/usr/bin/env python3
# As many lines of the run protocol as it is told to write, as fast as it can.
import json, sys
line = json.dumps({"v": 1, "type": "progress", "step": "flood", "pct": 12.5, "msg": "part of the work is done"}) + "\n"
block = line * 1000
for _ in range(int(sys.argv[1]) // 1000):
    sys.stdout.write(block)
sys.stdout.write(json.dumps({"v": 1, "type": "result", "status": "ok"}) + "\n")
