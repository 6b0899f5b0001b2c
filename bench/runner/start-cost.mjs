// What it costs to start `true`: bare, at level 1, by bubblewrap with the same namespaces, and at
// level 3. Prints a JSON object of milliseconds.
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// As it is shipped: where sources are compiled while they load, every late import costs a
// millisecond more.
const inside = new URL('../../dist/inside/', import.meta.url)
const [chunk] = readdirSync(inside).filter((name) => /^run-child-.*\.js$/.test(name))
const runChild = Object.values(await import(new URL(chunk, inside).href)).find(
  ({ name }) => name === 'runChild',
)
const rounds = Number(process.argv[2])
const workspace = mkdtempSync(join(tmpdir(), 'toolable-bench-'))
const env = { PATH: '/usr/bin:/bin' }
const bare = (command, args) =>
  new Promise((resolve, reject) =>
    spawn(command, args, { env, stdio: 'ignore' })
      .on('error', reject)
      .on('exit', (status) =>
        status === 0 ? resolve() : reject(new Error(`${command} ended with ${status}`)),
      ),
  )
const NAMESPACES = [
  '--unshare-user',
  '--unshare-pid',
  '--unshare-net',
  '--unshare-ipc',
  '--unshare-uts',
  '--unshare-cgroup-try',
  '--die-with-parent',
  '--new-session',
  '--ro-bind',
  '/',
  '/',
  '--proc',
  '/proc',
]
const ended = async (options) => {
  const end = await runChild({ command: ['/bin/true'], cwd: workspace, env, ...options })
  if (end.status !== 0)
    throw new Error(`true ended with ${end.reason} ${end.problem?.message ?? end.status}`)
}
const cases = {
  'bare spawn': () => bare('/bin/true', []),
  'level 1': () => ended({ limits: { memoryMb: 512, processes: 64 } }),
  'bare bwrap': () => bare('bwrap', [...NAMESPACES, '/bin/true']),
  'level 3': () =>
    ended({
      sandbox: {
        grants: {
          read: [],
          write: [],
          network: 'none',
          limits: { memoryMb: 512, processes: 64 },
          secrets: [],
        },
        workspace,
        readable: [],
      },
    }),
}
const found = Object.fromEntries(Object.keys(cases).map((name) => [name, []]))
for (let round = -3; round < rounds; round += 1) {
  for (const [name, run] of Object.entries(cases)) {
    const began = performance.now()
    await run()
    if (round >= 0) found[name].push(performance.now() - began)
  }
}
rmSync(workspace, { recursive: true, force: true })
console.log(JSON.stringify(found))
process.exit(0)
