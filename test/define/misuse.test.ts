import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { tool, toolset } from 'toolable'
import type { ToolOptions, jsonSchema } from 'toolable'
import { refusalOf, refusedAtOnce } from '../support/refusal.ts'

const minimal = { name: 'find', summary: 'Find' }
const define = (options: object) => tool({ ...minimal, ...options } as ToolOptions as never)

describe('names and summaries', () => {
  test.each([
    ['Find Files', "'find_files'"],
    ['findFiles', "'find_files'"],
    ['find.files!', "'find_files'"],
    ['x'.repeat(65), `'${'x'.repeat(64)}'`],
  ])('[3.name-pattern] the name %j is refused with the repaired one', (name, repaired) => {
    const error = refusedAtOnce(() => define({ name }))
    expect(error.code).toBe('CONFIG')
    expect(error.message).toContain(JSON.stringify(name))
    expect(error.message).toContain(`for example ${repaired}`)
  })

  test.each([[''], [undefined], [7], [null], ['🙂'], ['\n']])(
    '[3.name-pattern] the name %j is refused without inventing one',
    (name) => {
      const { message } = refusedAtOnce(() => define({ name }))
      expect(message).toMatch(/must be 1 to 64 characters of a-z, 0-9, '_' and '-'$/)
    },
  )

  test('[3.name-pattern] the shortest and the longest name are taken', () => {
    for (const name of ['a', '0', 'a-b_c9', 'x'.repeat(64)])
      expect(define({ name }).name).toBe(name)
  })

  test.each([[undefined], [''], ['   '], [5]])(
    '[3.summary-length] the summary %j is refused',
    (summary) => {
      expect(refusedAtOnce(() => define({ summary }))).toMatchObject({
        code: 'CONFIG',
        message: "tool 'find' needs a summary: one line of 1 to 200 characters",
      })
    },
  )

  test('[3.summary-length] 200 characters are taken and 201 refused with the way out', () => {
    expect(() => define({ summary: 's'.repeat(200) })).not.toThrow()
    const { message } = refusedAtOnce(() => define({ summary: 's'.repeat(201) }))
    expect(message).toContain('has 201 characters; 200 are allowed')
    expect(message).toContain("move the rest to 'description'")
  })
})

describe('handlers, times and codes', () => {
  test.each<[string, object, string]>([
    [
      'an option of the tool',
      { inputs: {} },
      "tool 'find' has no option 'inputs'; did you mean 'input'?",
    ],
    [
      'an annotation',
      { annotations: { destructve: true } },
      "'annotations' of tool 'find' has no option 'destructve'; did you mean 'destructive'?",
    ],
    [
      'a category',
      { errors: { E3101: { category: 'stat', message: 'x' } } },
      "error 'E3101' of tool 'find' has the category 'stat'; categories are input, auth, state, runtime, internal",
    ],
  ])('%s that does not exist is refused, not ignored', (_what, options, message) => {
    expect(() => tool({ name: 'find', summary: 'Find', ...options })).toThrow(message)
  })

  test('an option of a toolset that does not exist is refused', () => {
    expect(() => toolset({ name: 'prog', tool: [] } as never)).toThrow(
      "toolset 'prog' has no option 'tool'; did you mean 'tools'?",
    )
  })

  test('a handler that is no function', () => {
    expect(refusedAtOnce(() => define({ run: 'run' })).message).toBe(
      "'run' of tool 'find' must be a function",
    )
  })

  test.each([[0], [-1], [NaN], ['soon'], ['5 days'], [''], [{}]])(
    '[3.durations] the timeout %j is refused and names the tool',
    (timeout) => {
      const error = refusedAtOnce(() => define({ timeout }))
      expect(error.code).toBe('CONFIG')
      expect(error.message).toMatch(
        /^the timeout of tool 'find' cannot be used: .* is not a duration: give seconds above 0, or a number with ms, s, m or h$/,
      )
    },
  )

  test.each([
    [1.5, 1.5],
    ['500ms', 0.5],
    ['2s', 2],
    ['1.5m', 90],
    ['1h', 3600],
  ])('[3.durations] the timeout %j is %d seconds', async (timeout, seconds) => {
    expect((await define({ timeout }).manifest()).timeout).toBe(seconds)
  })

  test.each([['e3101'], ['3101'], ['E-1'], [''], ['NO SUCH']])(
    'the error code %j is refused',
    (code) => {
      const { message } = refusedAtOnce(() => define({ errors: { [code]: 'text' } }))
      expect(message).toBe(
        `error code '${code}' of tool 'find' must be capital letters, digits and '_', like E3101 or E_MY_THING`,
      )
    },
  )

  test.each([[5], [null], [{}], [{ category: 'state' }]])(
    '[3.declared-errors] a declared error of %j is refused',
    (declared) => {
      expect(refusedAtOnce(() => define({ errors: { E3101: declared } })).message).toBe(
        "error 'E3101' of tool 'find' needs a text, or { message, category }",
      )
    },
  )
})

describe('schemas', () => {
  test.each([
    [
      'a bare valibot schema',
      v.object({ a: v.string() }),
      /valibot schema cannot give its JSON Schema/,
    ],
    ['a text instead of an object', z.string(), /object/],
    ['a list instead of an object', z.array(z.string()), /object/],
    ['plain JSON Schema of a text', { type: 'string' }, /object/],
    ['an object of schemas', { a: z.string() }, /object of schemas \('a' is one\)/],
    ['a text', 'string', /is not a schema/],
    ['a promise', Promise.resolve(z.object({})), /is not a schema/],
    ['a number', 5, /is not a schema/],
  ])('[3.standard-schema] %s as input is refused', async (_what, input, words) => {
    const error = await refusalOf(() => define({ input }))
    expect(error.code).toBe('CONFIG')
    expect(error.message).toMatch(words)
    expect(error.message).toContain("'find'")
  })

  test('[3.standard-schema] the refusal of a bare valibot schema says how to wrap it', async () => {
    const { suggestion } = await refusalOf(() => define({ input: v.object({ a: v.string() }) }))
    expect(suggestion?.fix).toContain('toStandardJsonSchema')
  })

  test('an output without JSON Schema is refused and named', async () => {
    const error = await refusalOf(() => define({ output: v.string() }))
    expect(error.message).toMatch(/^'output' of tool 'find': /)
  })
})

describe('flags and positions', () => {
  const field = (name: string, schema: z.ZodType = z.string()) => z.object({ [name]: schema })

  test.each(['output', 'yes', 'help', 'json', 'schema', 'validate', 'quiet'])(
    '[5.flag-clash] a field %j clashes with an injected flag, and the message gives the way out',
    async (name) => {
      const { message, code } = await refusalOf(() => define({ input: field(name) }))
      expect(code).toBe('CONFIG')
      expect(message).toContain(`--${name}, which every tool has already`)
      expect(message).toMatch(new RegExp(`flags: \\{ ${name}: \\{ name: '[a-z-]+' \\} \\}`))
    },
  )

  test('[5.flag-clash] the way out of the message is a way out', async () => {
    const { suggestion } = await refusalOf(() => define({ input: field('output') }))
    expect(suggestion?.example).toBe("flags: { output: { name: 'out-file' } }")
    const mended = define({ input: field('output'), flags: { output: { name: 'out-file' } } })
    expect(await mended.manifest()).toMatchObject({ flags: { output: { name: 'out-file' } } })
  })

  test('two fields that give one flag', async () => {
    const { message } = await refusalOf(() =>
      define({ input: z.object({ maxDepth: z.number(), max_depth: z.number() }) }),
    )
    expect(message).toContain('both give the flag --max-depth')
  })

  test('a short flag that is taken, doubled, or no letter', async () => {
    const input = z.object({ a: z.string(), b: z.string() })
    expect(
      (await refusalOf(() => define({ input, flags: { a: { short: 'o' } } }))).message,
    ).toContain('takes -o, which is --output for every tool')
    expect(
      (await refusalOf(() => define({ input, flags: { a: { short: 'x' }, b: { short: 'x' } } })))
        .message,
    ).toContain('both take -x')
    expect(
      (await refusalOf(() => define({ input, flags: { a: { short: 'xy' } } }))).message,
    ).toContain('is not one letter')
  })

  test('positional and flags of unknown fields, and a position given twice', async () => {
    const input = z.object({ pattern: z.string() })
    expect((await refusalOf(() => define({ input, positional: ['patern'] }))).message).toContain(
      '`positional` names the unknown field "patern"; the input has pattern',
    )
    expect(
      (await refusalOf(() => define({ input, flags: { root: { short: 'r' } } }))).message,
    ).toContain('`flags` names the unknown field "root"')
    expect(
      (await refusalOf(() => define({ input, positional: ['pattern', 'pattern'] }))).message,
    ).toContain('"pattern" twice')
  })

  test('a required position behind an optional one, and a list that is not last', async () => {
    const input = z.object({
      first: z.string().optional(),
      second: z.string(),
      many: z.array(z.string()),
    })
    expect(
      (await refusalOf(() => define({ input, positional: ['first', 'second'] }))).message,
    ).toContain('put it before')
    expect(
      (await refusalOf(() => define({ input, positional: ['many', 'second'] }))).message,
    ).toContain('put it last')
  })
})

describe('thunks', () => {
  test('[3.schema-thunk] neither thunk is called by defining, and each is called once', async () => {
    const calls = { input: 0, output: 0 }
    const counted = tool({
      ...minimal,
      input: () => {
        calls.input++
        return z.object({ n: z.number() })
      },
      output: () => {
        calls.output++
        return z.number()
      },
      run: ({ n }) => n + 1,
    })
    expect(calls).toEqual({ input: 0, output: 0 })
    await expect(counted({ n: 1 })).resolves.toBe(2)
    await counted({ n: 2 })
    await counted.manifest()
    expect(calls).toEqual({ input: 1, output: 1 })
  })

  test('[3.schema-thunk] an output thunk waits although the input is no thunk', () => {
    let calls = 0
    tool({
      ...minimal,
      input: z.object({}),
      output: () => {
        calls++
        return z.number()
      },
      run: () => 1,
    })
    expect(calls).toBe(0)
  })

  test('[3.schema-thunk] misuse behind a thunk is reported at use, as a value', async () => {
    const { call } = await import('toolable')
    const late = tool({
      ...minimal,
      input: (() => v.object({ a: v.string() })) as never,
      run: () => 1,
    })
    const outcome = await call(late as never, {})
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: 'CONFIG', message: expect.stringContaining('valibot') },
    })
    await expect((async () => late.manifest())()).rejects.toMatchObject({ code: 'CONFIG' })
  })

  test('[3.schema-thunk] a thunk that throws is a failed call', async () => {
    const { call } = await import('toolable')
    const broken = tool({
      ...minimal,
      input: (): ReturnType<typeof jsonSchema<{}>> => {
        throw new Error('no schema today')
      },
      run: () => 1,
    })
    expect(await call(broken)).toMatchObject({
      ok: false,
      error: { code: 'CONFIG', message: expect.stringContaining('no schema today') },
    })
  })
})
