// `npm run bench discovery [repetitions]`: what it costs to find the tools of a folder, the first
// time and from the cache, from 10 to 1,000 executables.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatTable, measureAll } from './measure.mjs'

const repetitions = Number(process.argv[3] ?? 15)
const counts = [10, 100, 1000]
const home = mkdtempSync(join(tmpdir(), 'toolable-bench-'))
const discover = fileURLToPath(new URL('discovery/discover.mjs', import.meta.url))
const bare = fileURLToPath(new URL('discovery/read-cache.mjs', import.meta.url))
const bin = fileURLToPath(new URL('../dist/bin.js', import.meta.url))

try {
  const folders = new Map(counts.map((count) => [count, makeFolder(count)]))
  const first = new Map()
  for (const [count, folder] of folders) first.set(count, timeFirst(count, folder))
  const cases = counts.flatMap((count) => {
    const { tools, cache } = folders.get(count)
    const file = readdirSync(cache, { recursive: true })
      .map((name) => join(cache, name))
      .filter((name) => statSync(name).isFile())
      .sort((left, right) => statSync(right).size - statSync(left).size)[0]
    const environment = { XDG_CACHE_HOME: cache, TOOLS: tools }
    return [
      { key: `bare ${count}`, argv: [bare, file], expect: `${count + 1}`, environment },
      { key: `registry ${count}`, argv: [discover], expect: `${count} tools`, environment },
      {
        key: `list ${count}`,
        argv: [bin, 'list', '--folder', tools, '--output', 'json'],
        expect: `tool_${count - 1}`,
        environment,
      },
    ]
  })
  const results = await measureAll([{ key: 'node', argv: ['-e', '0'] }, ...cases], repetitions)
  const show = (key) =>
    `${results.get(key).median.toFixed(1)} (${results.get(key).minimum.toFixed(1)})`
  const ratio = (key, other) => (results.get(key).median / results.get(other).median).toFixed(2)
  console.log(
    `Discovery, node ${process.versions.node}, ${repetitions} repetitions, interleaved; milliseconds of whole processes, median (minimum); node -e 0: ${show('node')}\n`,
  )
  console.log(
    formatTable([
      [
        'executables',
        'first time s',
        'ms each',
        'bare node reads the cache',
        'registry() again',
        'of bare',
        'toolable list',
        'of bare',
      ],
      ...counts.map((count) => [
        `${count}`,
        (first.get(count) / 1000).toFixed(2),
        (first.get(count) / count).toFixed(1),
        show(`bare ${count}`),
        show(`registry ${count}`),
        ratio(`registry ${count}`, `bare ${count}`),
        show(`list ${count}`),
        ratio(`list ${count}`, `bare ${count}`),
      ]),
    ]),
  )
  const above = (count) => results.get(`registry ${count}`).median - results.get('node').median
  console.log(
    `\nms above node -e 0 for each executable: ${counts.map((count) => `${(above(count) / count).toFixed(3)} (${count})`).join(', ')}`,
  )
} finally {
  rmSync(home, { recursive: true, force: true })
}

function makeFolder(count) {
  const tools = join(home, `tools-${count}`)
  const cache = join(home, `cache-${count}`)
  mkdirSync(tools)
  mkdirSync(cache)
  for (let index = 0; index < count; index += 1) {
    const schema = {
      description: `Tool number ${index} of many`,
      parameters: {
        type: 'object',
        properties: {
          text: { type: 'string', description: 'What to work on' },
          count: { type: 'integer', default: 1 },
        },
        required: ['text'],
      },
    }
    writeFileSync(
      join(tools, `tool_${index}.sh`),
      `#!/bin/sh\ncase "$1" in\n'{"__test__": true}') echo '{"success": true, "_simple": true}' ;;\n--fractalic-dump-schema) echo '${JSON.stringify(schema)}' ;;\n--*) exit 2 ;;\n*) printf '%s\\n' "$1" ;;\nesac\n`,
      { mode: 0o755 },
    )
  }
  return { tools, cache }
}

function timeFirst(count, { tools, cache }) {
  const begin = process.hrtime.bigint()
  const { status, stdout, stderr } = spawnSync(process.execPath, [discover], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, XDG_CACHE_HOME: cache, TOOLS: tools },
    encoding: 'utf8',
  })
  if (status !== 0 || !stdout.includes(`${count} tools`))
    throw new Error(`the first discovery of ${count} executables failed: ${stdout}${stderr}`)
  return Number(process.hrtime.bigint() - begin) / 1e6
}
