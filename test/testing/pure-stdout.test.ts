import { describe, expect, test } from 'vitest'
import { fail, tool, toolset } from 'toolable'
import { expectPureStdout, runCli } from 'toolable/testing'
import { runProgram } from '../support/run-program.ts'

const list = tool({
  name: 'list',
  summary: 'Lists',
  run: () => [{ text: 'a\nb', 'odd key': 1, deep: { x: ['- y'] } }, { text: 'ok: true' }],
})
const says = tool({ name: 'says', summary: 'Says', run: () => 'first line\nok: false\n---\nlast' })
const fails = tool({
  name: 'fails',
  summary: 'Fails',
  run: () => fail('NOT_FOUND', 'there is\nnothing'),
})
const asks = tool({
  name: 'asks',
  summary: 'Asks',
  run: (_input, ctx) => ctx.ask({ kind: 'confirm', prompt: 'Sure?' }),
})
const set = toolset({ name: 'prog', tools: [list, says, fails, asks] })

describe('expectPureStdout [2.kit-pure-stdout]', () => {
  test.each(['json', 'jsonl', 'yaml', 'toon', 'text', 'md', 'csv'])(
    'accepts what %s prints, failures too',
    async (mode) => {
      for (const name of ['list', 'says', 'fails', 'nosuch']) {
        for (const more of [[], ['--stream']])
          expectPureStdout(await runCli(set, [name, '-o', mode, ...more]))
        expectPureStdout(await runCli(set, [name, '-o', mode], { tty: true }))
      }
      expectPureStdout(await runCli(set, ['asks', '--session', '-o', 'json'], { answers: [true] }))
      for (const dialect of ['toolable', 'tooli', 'acor', 'simple'])
        expectPureStdout(await runCli(set, ['list', '--dialect', dialect]))
    },
  )

  test('accepts a real process', async () => {
    const { stdout, status } = await runProgram('workbench.mjs', ['words'])
    expectPureStdout({ stdout, exitCode: status })
  })

  test.each<[string, Parameters<typeof expectPureStdout>, RegExp]>([
    [
      'text before the document',
      [{ stdout: 'loading\n{"ok":true}\n' }],
      /^stdout is not one JSON document: .*\n--- stdout\nloading\n\{"ok":true\}\n\n---$/s,
    ],
    ['two documents', [{ stdout: '{"ok":true}\n{"ok":true}\n' }], /not one JSON document/],
    ['nothing', [{ stdout: '' }], /there is nothing/],
    ['a line that does not end', [{ stdout: '{"ok":true}' }], /the last line does not end/],
    ['a line that is no JSON', [{ stdout: '{"a":1}\nnoise\n' }, { mode: 'jsonl' }], /line 2: /],
    [
      'noise among events',
      [{ stdout: '{"type":"log"}\n\n{"type":"result"}\n' }, { streamed: true }],
      /line 2: there is nothing/,
    ],
    [
      'noise before YAML',
      [{ stdout: 'noise\nok: true\n' }, { mode: 'yaml' }],
      /does not begin with the key 'ok'/,
    ],
    [
      'noise behind YAML',
      [{ stdout: 'ok: true\nstatus: success\nnoise here\n' }, { mode: 'yaml' }],
      /'noise' does not belong to it/,
    ],
    [
      'a second TOON document',
      [{ stdout: 'ok: true\nmeta:\n  tool: a\nok: true\n' }, { mode: 'toon' }],
      /'ok' does not belong to it/,
    ],
    [
      'text where a call failed',
      [{ stdout: 'oops\n', exitCode: 1 }, { mode: 'text' }],
      /nothing, because the call failed/,
    ],
    [
      'a mode that is none',
      [{ stdout: '' }, { mode: 'xml' as never }],
      /there is no output mode 'xml'/,
    ],
  ])('refuses %s', (_name, args, message) => {
    expect(() => expectPureStdout(...args)).toThrow(message)
  })

  test('cuts what is long', () => {
    expect(() => expectPureStdout({ stdout: 'x'.repeat(10_000) })).toThrow(
      /and 9500 characters more/,
    )
  })
})
