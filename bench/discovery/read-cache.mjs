// The least that any discovery from a cache does: read the file and parse it.
import { readFileSync } from 'node:fs'

console.log(
  readFileSync(process.argv[2], 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t').map((part) => JSON.parse(part))).length,
)
