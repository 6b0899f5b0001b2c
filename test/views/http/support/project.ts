import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder } from '../../../support/run-program.ts'

/** A name that is a page where it is not taken for text. */
export const SCRIPT = '<img src=x onerror=alert(1)><script>alert(1)</script>'

const head = (name: string, input: object = {}): string => `#!/bin/sh\n# toolable: ${JSON.stringify({ name, summary: `A tool called ${name}`, call: 'stdin', input: { type: 'object', properties: input } })}\n`
const say = (event: object): string => `printf '%s\\n' '${JSON.stringify({ v: 1, ...event })}'\n`

const TOOLS = {
  /** Says everything in the language of pages, and leaves a page. */
  'says-script': `${head('says-script')}printf '%s\\n' '${SCRIPT}' >&2\nprintf '%s' '${SCRIPT}' > "$WORKSPACE/page.html"\n${say({ type: 'log', level: 'info', message: SCRIPT })}${say({ type: 'artifact', name: `${SCRIPT}.html`, uri: 'page.html' })}${say({ type: 'result', status: 'ok', result: { text: SCRIPT } })}`,
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
