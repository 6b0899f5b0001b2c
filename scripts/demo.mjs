// `npm start`: one tool, its help, a call by flags, a call by JSON, and a call that is refused.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../bench/programs/zod.mjs', import.meta.url))
const calls = [['--help'], ['Ada', '--loud'], ['{"name":"Ada","times":2}'], ['{"name":"Ada","tims":2}']]

for (const argv of calls) {
  console.log(`$ greet ${argv.map((text) => (/^[\w-]+$/.test(text) ? text : `'${text}'`)).join(' ')}`)
  const { status, stdout } = spawnSync(process.execPath, [program, ...argv], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  console.log(`${stdout.trimEnd()}\n(exit ${status})\n`)
}
