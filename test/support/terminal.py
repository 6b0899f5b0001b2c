"""Runs a program on a real pseudo-terminal. Reads a JSON plan on stdin, prints what happened as JSON."""
import fcntl, json, os, pty, select, signal, struct, sys, termios, time

plan = json.load(sys.stdin)
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, plan["columns"], 0, 0))
pipes = {}
for name in ("stdout", "stderr"):
    if name in plan["pipes"]:
        pipes[name] = os.pipe()

pid = os.fork()
if pid == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    os.dup2(slave, 0)
    os.dup2(pipes["stdout"][1] if "stdout" in pipes else slave, 1)
    os.dup2(pipes["stderr"][1] if "stderr" in pipes else slave, 2)
    for descriptor in range(3, 30):
        try:
            os.close(descriptor)
        except OSError:
            pass
    os.chdir(plan["cwd"])
    os.execve(plan["argv"][0], plan["argv"], plan["env"])

os.close(slave)
for _, write_end in pipes.values():
    os.close(write_end)
seen = {"screen": b"", "stdout": b"", "stderr": b""}
sources = {master: "screen", **{ends[0]: name for name, ends in pipes.items()}}
steps = list(plan["steps"])
position = 0
deadline = time.monotonic() + plan["timeout"]
timed_out = False
while sources:
    if time.monotonic() > deadline:
        timed_out = True
        os.kill(pid, signal.SIGKILL)
        break
    ready, _, _ = select.select(list(sources), [], [], 0.5)
    for descriptor in ready:
        try:
            chunk = os.read(descriptor, 65536)
        except OSError:
            chunk = b""
        if chunk:
            seen[sources[descriptor]] += chunk
        else:
            del sources[descriptor]
    while steps:
        found = seen["screen"].find(steps[0]["wait"].encode(), position)
        if found < 0:
            break
        position = found + len(steps[0]["wait"].encode())
        os.write(master, steps.pop(0)["send"].encode())

_, status = os.waitpid(pid, 0)
print(json.dumps({
    "status": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
    "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
    "timed_out": timed_out,
    "steps_left": [step["wait"] for step in steps],
    **{name: text.decode("utf-8", "replace") for name, text in seen.items()},
}))
