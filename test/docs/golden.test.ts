import { describe, expect, test } from 'vitest'
import { makeFolder, runProgram } from '../support/run-program.ts'

// What the documents of our examples look like; `npx vitest run test/docs/golden.test.ts -u`
// writes them anew, and a reader of the change sees what it does.
const PROGRAMS = {
  'file-tools': '../../examples/file-tools/file-tools.mjs',
  greet: '../../examples/hello/hello.mjs',
  'roll-dice': '../../examples/plain-json-schema/roll-dice.mjs',
}
const SHOWN: readonly (readonly [program: keyof typeof PROGRAMS, kind: string])[] = [
  ['file-tools', 'skill'],
  ['file-tools', 'agents'],
  ['file-tools', 'command'],
  ['file-tools', 'subagent'],
  ['file-tools', 'llms'],
  ['file-tools', 'man'],
  ['file-tools', 'markdown'],
  ['greet', 'skill'],
  ['greet', 'claude'],
  ['greet', 'man'],
  ['roll-dice', 'skill'],
  ['roll-dice', 'llms'],
]

describe('documents of our examples [5.docs]', () => {
  test.each(SHOWN)('%s: %s', async (program, kind) => {
    const { status, json } = await runProgram(PROGRAMS[program], ['docs', kind, '--json'], {
      cwd: makeFolder(),
    })
    expect(status).toBe(0)
    // The long form of llms.txt is the page of reference.
    for (const { path, text } of (json.result as { path: string; text: string }[]).filter(
      ({ path }) => path !== 'llms-full.txt',
    ))
      await expect(text).toMatchFileSnapshot(`golden/${program}/${path.replace(/^\./, '')}`)
  })
})
