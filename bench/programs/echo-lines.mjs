// The least that a process behind two pipes can do.
process.stdin.on('data', (chunk) => process.stdout.write(chunk))
