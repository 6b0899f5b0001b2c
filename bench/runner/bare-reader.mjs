// Starts the flood, splits its output and parses each line, and does nothing else: what any reader
// has to do.
import { spawn } from 'node:child_process'

const began = performance.now()
const child = spawn('python3', [process.argv[2], process.argv[3]], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
let rest = ''
let events = 0
child.stdout.setEncoding('utf8')
child.stdout.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop()
  for (const line of lines) if (JSON.parse(line).type !== undefined) events += 1
})
child.on('close', () =>
  console.log(JSON.stringify({ events, seconds: (performance.now() - began) / 1000 })),
)
