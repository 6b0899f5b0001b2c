import { decode } from '@toon-format/toon'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { formatOutcome } from '../../../src/cli/output.ts'
import type { OutputMode } from '../../../src/cli/formats/table.ts'
import { failure, files, meta, notFound, partly, renderInput, success } from './outcomes.ts'

const errorLine = `{"error":{"code":"NOT_FOUND","category":"state","message":"No folder /x","recoverable":true,"retryable":false,"suggestion":{"action":"retry_with_modified_input","fix":"Give a folder that exists","example":"prog find --root .","input":{"root":"."},"applicability":"maybe_incorrect"},"field":"root","details":{"given":"/x"}}}\n`

describe('envelope modes', () => {
  test('json is one line; pretty is indented', async () => {
    expect(await formatOutcome(success({ a: 1 }), { mode: 'json' })).toEqual({
      stdout:
        '{"ok":true,"status":"success","result":{"a":1},"meta":{"tool":"files.find","version":"1.2.0","duration_ms":3}}\n',
      stderr: '',
    })
    const { stdout } = await formatOutcome(success({ a: 1 }), { mode: 'json', pretty: true })
    expect(stdout).toMatch(/^{\n {2}"ok": true,\n/)
    expect(stdout.endsWith('}\n')).toBe(true)
  })

  test.each(['json', 'jsonl', 'yaml', 'toon'] as const)(
    '%s: a failure is one document on stdout and one error line on stderr',
    async (mode) => {
      const { stdout, stderr } = await formatOutcome(failure, { mode, renderInput })
      const read = { json: JSON.parse, jsonl: JSON.parse, yaml: parse, toon: decode }[mode]
      const suggestion = {
        action: 'retry_with_modified_input',
        fix: 'Give a folder that exists',
        example: 'prog find --root .',
        input: { root: '.' },
        applicability: 'maybe_incorrect',
      }
      expect(read(stdout)).toEqual({
        ok: false,
        status: 'error',
        error: { ...notFound, suggestion },
        meta,
      })
      expect(stderr).toBe(errorLine)
    },
  )

  test('yaml golden', async () => {
    const { stdout } = await formatOutcome(
      success([{ path: 'a', on: 'yes' }], { message: 'one\ntwo' }),
      { mode: 'yaml' },
    )
    expect(stdout).toBe(
      'ok: true\nstatus: success\nresult:\n  - path: a\n    "on": "yes"\nmessage: |-\n  one\n  two\nmeta:\n  tool: files.find\n  version: 1.2.0\n  duration_ms: 3\n',
    )
  })

  test('yaml writes a value that is used twice twice', async () => {
    const shared = { a: 1 }
    const { stdout } = await formatOutcome(success([shared, shared]), { mode: 'yaml' })
    expect(stdout).not.toMatch(/[&*]/)
    expect(parse(stdout)).toMatchObject({ result: [{ a: 1 }, { a: 1 }] })
  })

  test('toon golden', async () => {
    const { stdout } = await formatOutcome(
      success([
        { path: 'a', size: 1 },
        { path: 'b', size: 2 },
      ]),
      { mode: 'toon' },
    )
    expect(stdout).toBe(
      'ok: true\nstatus: success\nresult[2]{path,size}:\n  a,1\n  b,2\nmeta:\n  tool: files.find\n  version: 1.2.0\n  duration_ms: 3\n',
    )
  })

  test('a result that JSON cannot say does not crash the printer', async () => {
    const loop: Record<string, unknown> = { big: 12345678901234567890n }
    loop['self'] = loop
    for (const mode of ['json', 'yaml', 'toon', 'text', 'md', 'csv'] as const) {
      const { stdout } = await formatOutcome(success(loop), { mode })
      expect(stdout).toContain('12345678901234567890')
      expect(stdout).toContain('circular')
    }
  })

  test('the keys of a hostile result stay ordinary keys', async () => {
    const result: unknown = JSON.parse('{"__proto__":{"x":1},"constructor":2}')
    for (const [mode, read] of [
      ['json', JSON.parse],
      ['yaml', parse],
      ['toon', decode],
    ] as const) {
      const document = read((await formatOutcome(success(result), { mode })).stdout) as {
        result: object
      }
      expect(Object.keys(document.result)).toEqual(['__proto__', 'constructor'])
    }
  })
})

describe('jsonl', () => {
  test('items one per line, bare; nothing for an empty list', async () => {
    expect(await formatOutcome(success([{ a: 1 }, 'x\ny', null]), { mode: 'jsonl' })).toEqual({
      stdout: '{"a":1}\n"x\\ny"\nnull\n',
      stderr: '',
    })
    expect(await formatOutcome(success([]), { mode: 'jsonl' })).toEqual({ stdout: '', stderr: '' })
  })

  test('anything else is the one envelope line', async () => {
    const { stdout } = await formatOutcome(success({ items: [1] }), { mode: 'jsonl' })
    expect(stdout).toBe(
      '{"ok":true,"status":"success","result":{"items":[1]},"meta":{"tool":"files.find","version":"1.2.0","duration_ms":3}}\n',
    )
  })

  test('what bare items cannot say is one line on stderr', async () => {
    const more = await formatOutcome(
      success([1], { meta: { ...meta, truncated: true, next_cursor: 'abc' } }),
      { mode: 'jsonl' },
    )
    expect(more.stdout).toBe('1\n')
    expect(JSON.parse(more.stderr)).toEqual({
      ok: true,
      status: 'success',
      meta: { ...meta, truncated: true, next_cursor: 'abc' },
    })
    const part = await formatOutcome(partly, { mode: 'jsonl' })
    expect(part.stdout).toBe('"a"\n"b"\n')
    expect(JSON.parse(part.stderr)).toMatchObject({
      status: 'partial',
      errors: [{ code: 'NOT_FOUND' }],
      summary: { failed: 1 },
    })
  })
})

describe('bare modes', () => {
  test.each(['text', 'md', 'csv'] as const)(
    '%s: a failure leaves stdout empty and speaks on stderr',
    async (mode) => {
      expect(await formatOutcome(failure, { mode, renderInput })).toEqual({
        stdout: '',
        stderr:
          'error: No folder /x (NOT_FOUND)\n  field: root\n  given: /x\nfix: Give a folder that exists\ntry: prog find --root .\n',
      })
    },
  )

  test('a partial outcome shows the result, then each error and the counts', async () => {
    expect(await formatOutcome(partly, { mode: 'text', renderInput })).toEqual({
      stdout: 'a\nb\n',
      stderr:
        'error: No folder /x (NOT_FOUND)\n  field: root\n  given: /x\nfix: Give a folder that exists\ntry: prog find --root .\n2 of 3 succeeded, 1 failed (1 can be fixed by the caller)\n',
    })
  })

  test('warnings, dry run and the next page are on stderr', async () => {
    const outcome = success(['a'], {
      meta: {
        ...meta,
        dry_run: true,
        warnings: ['old data'],
        truncated: true,
        next_cursor: 'WzEsIng',
      },
    })
    expect(await formatOutcome(outcome, { mode: 'text' })).toEqual({
      stdout: 'a\n',
      stderr: 'dry run: nothing was changed\nwarning: old data\nmore: --cursor WzEsIng\n',
    })
  })

  test('the message stands before the value, and alone when the value is hidden', async () => {
    const said = success(['a'], { message: 'One file' })
    expect((await formatOutcome(said, { mode: 'text' })).stdout).toBe('One file\na\n')
    expect((await formatOutcome({ ...said, hidden: true }, { mode: 'text' })).stdout).toBe(
      'One file\n',
    )
    expect((await formatOutcome(said, { mode: 'md' })).stdout).toBe('One file\n\n- a\n')
    expect(await formatOutcome(said, { mode: 'csv' })).toEqual({
      stdout: 'value\r\na\r\n',
      stderr: 'One file\n',
    })
  })

  test('nothing to show: an empty list says so on stderr, null says nothing', async () => {
    expect(await formatOutcome(success([]), { mode: 'text' })).toEqual({
      stdout: '',
      stderr: '(none)\n',
    })
    expect(await formatOutcome(success(null), { mode: 'text' })).toEqual({ stdout: '', stderr: '' })
  })

  test('validation issues are listed one per line', async () => {
    const details = {
      issues: [
        { path: ['a', 'b'], message: 'must be a number' },
        { field: 'c', message: 'is required' },
      ],
      stack: 'at x',
    }
    const { stderr } = await formatOutcome(
      {
        ...failure,
        error: {
          code: 'INVALID_INPUT',
          category: 'input',
          message: 'Two problems',
          recoverable: true,
          retryable: false,
          details,
        },
      },
      { mode: 'text' },
    )
    expect(stderr).toBe(
      'error: Two problems (INVALID_INPUT)\n  - a.b: must be a number\n  - c: is required\n',
    )
  })

  test('colour is there when asked for and only then', async () => {
    const modes: readonly OutputMode[] = ['text', 'md', 'csv']
    for (const mode of modes)
      expect((await formatOutcome(failure, { mode, color: true })).stderr).toContain(
        '\u001b[31merror:\u001b[39m',
      )
    const plain = await formatOutcome(success(files), {
      mode: 'text',
      color: false,
      stderrColor: true,
      columns: 80,
    })
    expect(plain.stdout).not.toContain('\u001b')
    expect(
      (await formatOutcome(success(files), { mode: 'text', color: true, columns: 80 })).stdout,
    ).toContain('\u001b[2mpath')
  })
})
