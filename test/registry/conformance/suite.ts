import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { registry } from 'toolable'
import type { Registry } from 'toolable'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeFolder } from '../../support/run-program.ts'
import type { Prepared, SourceFixture } from './source-fixture.ts'
import '../../support/without-coverage.ts'

// What is dangerous as a whole argument stands alone; what is dangerous inside of one stands
// together, because each value costs a call.
const NASTY = [
  'plain',
  '',
  '-rf',
  '--help',
  '--text=x',
  '--',
  '1.10',
  'true',
  'null',
  '{"a":1}',
  '[1]',
  '@file',
  '*',
  ' spaces $(touch evil) `x` "q" \'s\' \\ |;& %s %n\nline two\ttab äöü 日本語 🎉 e\u0301 \u001b[31mred ',
]

/** What every source has to keep, whatever its tools are written in and wherever they run. */
export function conformance(fixture: SourceFixture): void {
  describe(fixture.name, () => {
    let folder: string
    let prepared: Prepared
    let reg: Registry
    beforeAll(async () => {
      folder = makeFolder()
      prepared = await fixture.prepare(folder)
      reg = await registry({ cwd: folder, cache: join(folder, '.cache'), ...prepared.options })
    })
    afterAll(async () => {
      await reg?.close()
      await prepared?.stop?.()
    })

    test('lists and describes its tools', async () => {
      const { echo, refuse, wait } = prepared.names
      const listed = reg.list().map(({ name }) => name)
      expect(reg.problems().filter(({ severity }) => severity === 'error')).toEqual([])
      expect(listed).toEqual(expect.arrayContaining([echo, refuse, wait]))
      const { id, summary, manifest } = await reg.describe(echo)
      expect(id).toMatch(/^[a-z0-9_-]+\.[a-z0-9_-]+$/)
      expect(summary).not.toBe('')
      if (fixture.open)
        expect(manifest.inputSchema).toMatchObject({ type: 'object', additionalProperties: true })
      else
        expect(manifest.inputSchema).toMatchObject({
          type: 'object',
          properties: { text: { type: 'string' } },
          required: ['text'],
          additionalProperties: false,
        })
      expect(await reg.describe(id)).toEqual(await reg.describe(echo))
      expect(reg.find(echo.replaceAll('_', '-'))?.name).toBe(echo)
    })

    test('gives every value back as it was', async () => {
      for (const text of NASTY)
        expect(await reg.call(prepared.names.echo, { text })).toMatchObject({
          ok: true,
          status: 'success',
          result: { text },
        })
      const whole = { text: 'x', count: 3, loud: true }
      expect(await reg.call(prepared.names.echo, whole)).toMatchObject({
        ok: true,
        result: whole,
        meta: { tool: (await reg.describe(prepared.names.echo)).id },
      })
    })

    test('takes large input, or says how large it may be', async () => {
      const text = 'ä'.repeat(100_000)
      const outcome = await reg.call(prepared.names.echo, { text })
      if (!fixture.small) expect(outcome).toMatchObject({ ok: true, result: { text } })
      else
        expect(outcome).toMatchObject({
          ok: false,
          error: { code: 'INVALID_INPUT', message: expect.stringMatching(/\d/) },
        })
    })

    test('refuses bad input before the tool runs, and knows its own tools only', async () => {
      const { echo } = prepared.names
      expect(await reg.call(`${echo}x`, {})).toMatchObject({
        ok: false,
        error: { code: 'NOT_FOUND', message: expect.stringContaining('did you mean') },
      })
      if (fixture.open) return
      expect(await reg.call(echo, {})).toMatchObject({
        ok: false,
        error: { code: 'MISSING_PARAM', field: 'text' },
      })
      expect(await reg.call(echo, { text: 5 })).toMatchObject({
        ok: false,
        error: { code: 'INVALID_INPUT', field: 'text' },
      })
      expect(await reg.call(echo, { text: 'x', txet: 'y' })).toMatchObject({
        ok: false,
        error: { code: 'INVALID_INPUT' },
      })
    })

    test('tells failures with the words of the tool', async () => {
      expect(await reg.call(prepared.names.refuse, {})).toMatchObject({
        ok: false,
        status: 'error',
        error: {
          message: expect.stringContaining('no such thing'),
          code: expect.stringMatching(/^[A-Z][A-Z0-9_]*$/),
        },
      })
    })

    test('ends a call that is cancelled or takes too long, and works on', async () => {
      const { echo, wait } = prepared.names
      const stop = new AbortController()
      const running = reg.call(wait, { seconds: 60 }, { signal: stop.signal })
      setTimeout(() => stop.abort(), 300)
      expect(await running).toMatchObject({ ok: false, error: { code: 'CANCELLED' } })
      expect(await reg.call(wait, { seconds: 60 }, { timeout: '400ms' })).toMatchObject({
        ok: false,
        error: { code: 'TIMEOUT' },
      })
      expect(await reg.call(echo, { text: 'after' })).toMatchObject({
        ok: true,
        result: { text: 'after' },
      })
      expect(await reg.call(wait, { seconds: 0 })).toMatchObject({
        ok: true,
        result: { waited: 0 },
      })
    })

    test('answers calls at the same time without mixing them up', async () => {
      const texts = Array.from({ length: 8 }, (_, index) => `call ${index}`)
      const outcomes = await Promise.all(
        texts.map((text) => reg.call(prepared.names.echo, { text })),
      )
      expect(
        outcomes.map((outcome) => (outcome.ok ? outcome.result : outcome.error)),
      ).toMatchObject(texts.map((text) => ({ text })))
    })

    test('is given to models and answers their calls', async () => {
      const { echo } = prepared.names
      const [exported] = await reg.toOpenAI({ filter: echo })
      expect(exported).toMatchObject({ type: 'function', function: { name: echo } })
      const message = await reg.handleToolCall({
        id: 'c1',
        type: 'function',
        function: { name: echo, arguments: '{"text":"hi"}' },
      })
      expect(message).toMatchObject({
        role: 'tool',
        tool_call_id: 'c1',
        content: expect.stringContaining('hi'),
      })
    })

    test('leaves nothing behind', async () => {
      await reg.close()
      await prepared.stop?.()
      await expect.poll(() => processesOf(folder)).toEqual([])
    })
  })
}

// Programs of a fixture have the folder in their command line.
function processesOf(folder: string): readonly string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && pid !== String(process.pid))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        return command.includes(folder) ? [command] : []
      } catch {
        return []
      }
    })
}
