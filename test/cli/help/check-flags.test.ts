import { describe, expect, test } from 'vitest'
import type { CommandManifest } from '../../../src/cli/command-line.ts'
import { ToolError } from '../../../src/protocol/tool-error.ts'
import { checkFlags } from '../../../src/define/checks.ts'
import { toFlagSpecs } from '../../../src/define/flag-specs.ts'
import { findFiles, mergePullRequest, withFields } from './fixtures.ts'

function problemOf(tool: CommandManifest): ToolError | undefined {
  try {
    checkFlags(tool, toFlagSpecs(tool))
    return undefined
  } catch (error) {
    if (!ToolError.is(error)) throw error
    return error
  }
}

describe('what is refused, as CONFIG, naming field and way out', () => {
  test.each<[string, CommandManifest, RegExp]>([
    [
      'two fields with one flag',
      withFields({ maxDepth: {}, max_depth: {} }),
      /"maxDepth" and "max_depth" both give the flag --max-depth.*flags: \{ max_depth: \{ name: 'other-max-depth' \} \}/,
    ],
    [
      'an injected flag',
      withFields({ output: {} }),
      /--output, which every tool has.*flags: \{ output: \{ name: 'out-file' \} \}/,
    ],
    [
      'an injected flag by another spelling',
      withFields({ idempotencyKey: {} }),
      /--idempotency-key, which every tool has.*flags: \{ idempotencyKey: \{ name: /,
    ],
    ['a control flag', withFields({ schema: {} }), /--schema, which every tool has/],
    ['help', withFields({ help: {} }), /--help, which every tool has/],
    ['stream', withFields({ stream: {} }), /--stream, which every tool has/],
    [
      'a rename into a clash',
      withFields({ a: {} }, { flags: { a: { name: 'yes' } } }),
      /--yes, which every tool has/,
    ],
    [
      'a boolean whose negation is taken by us',
      withFields({ color: { type: 'boolean' } }),
      /switched off by --no-color, which every tool has/,
    ],
    [
      'a boolean whose negation is another field',
      withFields({ cache: { type: 'boolean' }, no_cache: {} }),
      /switched off by --no-cache, which belongs to the field "no_cache"/,
    ],
    [
      'a field that cannot be typed',
      withFields({ $: {} }),
      /"\$" cannot be written as the flag --;.*flags: \{ \$: \{ name: 'my-name' \} \}/,
    ],
    [
      'a name with dashes before it',
      withFields({ a: {} }, { flags: { a: { name: '--a' } } }),
      /cannot be written as the flag ----a/,
    ],
    [
      'a short flag of ours',
      withFields({ a: {} }, { flags: { a: { short: 'o' } } }),
      /-o, which is --output for every tool/,
    ],
    [
      'the short flag of --version',
      withFields({ a: {} }, { flags: { a: { short: 'V' } } }),
      /-V, which is --version/,
    ],
    [
      'one short flag twice',
      withFields({ a: {}, b: {} }, { flags: { a: { short: 'x' }, b: { short: 'x' } } }),
      /"a" and "b" both take -x/,
    ],
    [
      'a long short flag',
      withFields({ a: {} }, { flags: { a: { short: 'ab' } } }),
      /"ab" of the field "a" is not one letter/,
    ],
    [
      'a digit as short flag',
      withFields({ a: {} }, { flags: { a: { short: '1' } } }),
      /not one letter/,
    ],
    [
      'flags of an unknown field',
      withFields({ a: {} }, { flags: { b: { short: 'x' } } }),
      /`flags` names the unknown field "b"; the input has a/,
    ],
    [
      'an unknown positional',
      withFields({}, { positional: ['b'] }),
      /`positional` names the unknown field "b"; the input has no fields/,
    ],
    [
      'a positional twice',
      withFields({ a: {} }, { positional: ['a', 'a'] }),
      /names the field "a" twice/,
    ],
    [
      'a list before the last',
      withFields({ a: { type: 'array' }, b: {} }, { positional: ['a', 'b'] }),
      /list "a" takes all further arguments/,
    ],
    [
      'a required positional after an optional one',
      withFields({ a: {}, b: {} }, { positional: ['a', 'b'], required: ['b'] }),
      /required field "b" stands after the optional field "a"/,
    ],
  ])('%s', (_, tool, message) => {
    const problem = problemOf(tool)
    expect(problem?.code).toBe('CONFIG')
    expect(problem?.message).toMatch(message)
    expect(problem?.message).toContain('Tool "tool"')
  })

  test('the way out works', () => {
    const problem = problemOf(withFields({ output: {} }))
    expect(problem).toMatchObject({
      field: 'output',
      suggestion: { example: "flags: { output: { name: 'out-file' } }" },
    })
    expect(
      problemOf(withFields({ output: {} }, { flags: { output: { name: 'out-file' } } })),
    ).toBeUndefined()
  })
})

describe('what is allowed', () => {
  test.each<[string, CommandManifest]>([
    ['ordinary tools', findFiles],
    ['positionals', mergePullRequest],
    [
      'fields before which ours yield',
      withFields({
        limit: {},
        cursor: {},
        fields: {},
        filter: {},
        maxTokens: {},
        max_tokens_2: {},
      }),
    ],
    [
      'reserved fields',
      withFields({
        timeout: {},
        dry_run: { type: 'boolean' },
        verbose: { type: 'boolean' },
        working_dir: {},
      }),
    ],
    [
      'words of the program level',
      withFields({
        version: {},
        discover: {},
        tools: {},
        resource: {},
        prompt: {},
        selftest: {},
        port: {},
      }),
    ],
    [
      'a reserved field with the short flag of its own',
      withFields({ verbose: {} }, { flags: { verbose: { short: 'v' } } }),
    ],
    [
      'a value beside the negation of another',
      withFields({ cache: { type: 'string' }, no_cache: { type: 'boolean' } }),
    ],
  ])('%s', (_, tool) => {
    expect(problemOf(tool)).toBeUndefined()
  })
})
