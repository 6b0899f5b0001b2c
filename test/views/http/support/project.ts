import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder } from '../../../support/run-program.ts'

/** What runs where it is not taken for text, as a text and as the name of a file. */
export const SCRIPT = '<img src=x onerror=alert(1)><script>alert(1)</script>'

export const SCRIPT_FILE = '"<img src=x onerror=alert(1)>.html'

const head = (name: string, input: object = {}): string =>
  `#!/bin/sh\n# toolable: ${JSON.stringify({ name, summary: `A tool called ${name}`, call: 'stdin', input: { type: 'object', properties: input } })}\n`
const say = (event: object): string => `printf '%s\\n' '${JSON.stringify({ v: 1, ...event })}'\n`

const TOOLS = {
  /** Says everything in the language of pages, and leaves a page. */
  'says-script': `${head('says-script')}printf '%s\\n' '${SCRIPT}' >&2\nprintf '%s' '${SCRIPT}' > "$WORKSPACE"/'${SCRIPT_FILE}'\n${say({ type: 'log', level: 'info', message: SCRIPT })}${say({ type: 'result', status: 'ok', result: { text: SCRIPT }, artifacts: [{ path: SCRIPT_FILE }] })}`,
  /** Says a number a few times a second, until it is asked to stop. */
  counts: `${head('counts')}trap 'exit 0' TERM\nnumber=0\nwhile [ $number -lt 100000 ]; do number=$((number + 1)); printf '{"v":1,"type":"log","level":"info","message":"number %s"}\\n' $number; sleep 0.02; done\n`,
  /** Says that it was run. */
  greets: `${head('greets', { name: { type: 'string', description: 'Whom' } })}${say({ type: 'result', status: 'ok', result: { said: 'hello' } })}`,
} as const

/** A new project with little tools. */
export function makeProject(): string {
  const folder = makeFolder()
  for (const [name, text] of Object.entries(TOOLS)) {
    const file = join(folder, 'tools', `${name}.sh`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    chmodSync(file, 0o755)
  }
  return folder
}
