import fc from 'fast-check'
import type { ToolsetManifest } from '../../../src/protocol/manifest.ts'
import type { CommandManifest } from '../../../src/cli/command-line.ts'
import { command } from '../../cli/help/fixtures.ts'

// What breaks one of the forms: YAML, Markdown, HTML, roff, shells, loaders of skills, readers of
// marks.
const FRAGMENTS = [
  '---',
  '...',
  ': ',
  '# ',
  '- ',
  '* ',
  '+ ',
  '1. ',
  '> ',
  '| a | b |',
  '`',
  '``',
  '```',
  '````',
  '~~~',
  "'",
  '"',
  '\\',
  '\\\\',
  '\n',
  '\n\n',
  '\r\n',
  '\t',
  ' ',
  '    code',
  '<!-- ',
  '-->',
  '<script>',
  '</div>',
  '&amp;',
  '&lt;',
  '[x](y)',
  '![x](y)',
  '[x]: y',
  '*a*',
  '_b_',
  '__c__',
  '~~d~~',
  '===',
  '***',
  '!`rm -rf /`',
  '`!`',
  '!',
  '$ARGUMENTS',
  '$1',
  '${HOME}',
  '$',
  '@file',
  ' @AGENTS.md',
  '.TH',
  '.so /etc/passwd',
  "'br",
  '\\fB',
  '\\n(xx',
  '\\[u4E2D]',
  '<!-- toolable:prog begin -->',
  '<!-- toolable:prog end -->',
  '\n<!-- toolable:prog end -->\n',
  'toolable:prog docs skill: generated',
  'é',
  '中文',
  '漢字かな',
  '😀',
  '👩‍👩‍👧',
  'שלום',
  '\u202e',
  '\u200b',
  '\ufeff',
  '\u0000',
  '\u001b[31m',
  '\u0085',
  '\u2028',
  '\ud800',
  '\udc00',
  '\uffff',
  'İ',
  '\u0301',
  '{}',
  '{"a":1}',
  '%s',
  '^',
  '~',
  'word',
  'Find',
  'HTTP',
  'a-b',
  'x'.repeat(70),
  '%',
  '=',
  ',',
  ';',
  '(',
  ')',
]

/** Text of nasty pieces. */
export const nasty = (most: number): fc.Arbitrary<string> =>
  fc
    .array(
      fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom(...FRAGMENTS) },
        { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
      ),
      { maxLength: most },
    )
    .map((parts) => parts.join(''))

const name = fc.stringMatching(/^[a-z0-9_-]{1,64}$/)
const field = fc.constantFrom(
  'pattern',
  'maxDepth',
  'root',
  'größe',
  'a_b',
  'x1',
  'kind',
  'list',
  'owner',
  'note',
)
const fieldSchema = fc.oneof(
  nasty(6).map((description) => ({ type: 'string', description })),
  fc.record({
    type: fc.constant('string'),
    default: nasty(3),
    description: nasty(3),
    pattern: nasty(2),
    maxLength: fc.nat(),
  }),
  fc.record({ enum: fc.array(nasty(3), { minLength: 1, maxLength: 40 }), description: nasty(2) }),
  fc.constant({ type: 'boolean', default: true }),
  fc.constant({ type: 'integer', minimum: 1, maximum: 9 }),
  fc.record({
    type: fc.constant('array'),
    items: fc.record({ enum: fc.array(nasty(2), { minLength: 1, maxLength: 3 }) }),
  }),
  fc.record({
    type: fc.constant('object'),
    properties: fc.dictionary(nasty(2), fc.constant({ type: 'string' }), { maxKeys: 30 }),
  }),
)

const tool: fc.Arbitrary<CommandManifest> = fc
  .record({
    name,
    summary: nasty(8).map((text) => text.slice(0, 200)),
    description: fc.option(nasty(20), { nil: undefined }),
    tags: fc.array(nasty(2), { maxLength: 3 }),
    fields: fc.dictionary(field, fieldSchema, { maxKeys: 6 }),
    required: fc.array(field, { maxLength: 3 }),
    streaming: fc.boolean(),
    session: fc.boolean(),
    dryRun: fc.boolean(),
    annotations: fc.record(
      { destructive: fc.boolean(), readOnly: fc.boolean() },
      { requiredKeys: [] },
    ),
    examples: fc.array(
      fc.record(
        {
          description: nasty(3),
          input: fc.dictionary(field, fc.oneof(nasty(5), fc.integer(), fc.boolean())),
          output: fc.oneof(nasty(4), fc.array(nasty(3)), fc.constant(undefined)),
        },
        { requiredKeys: ['input'] },
      ),
      { maxLength: 3 },
    ),
    errors: fc.dictionary(
      fc.constantFrom('E3101', 'E_`X`', 'NOT_FOUND', 'E 4'),
      nasty(4).map((message) => ({ message })),
      { maxKeys: 2 },
    ),
  })
  .map(({ description, fields, required, ...rest }) =>
    command({
      ...rest,
      ...(description !== undefined && { description }),
      path: [rest.name.replaceAll('_', '-')],
      inputSchema: {
        type: 'object',
        properties: fields,
        required: required.filter((each) => Object.hasOwn(fields, each)),
      },
      outputSchema: { type: 'object', properties: fields },
    }),
  )

/** A program of so many tools with nasty texts everywhere; its name is `prog` or a strange one. */
export const hostileProgram = (least: number, most: number): fc.Arbitrary<ToolsetManifest> =>
  fc
    .record({
      name: fc.oneof(
        fc.constant('prog'),
        fc.constantFrom('on', 'null', '-', '__', '--a--', '123', 'x'.repeat(64)),
        name,
      ),
      version: nasty(2),
      description: fc.option(nasty(30), { nil: undefined }),
      tools: fc.uniqueArray(tool, {
        minLength: least,
        maxLength: most,
        selector: (each) => each.name.replaceAll('-', '_'),
        size: 'max',
      }),
      resources: fc.array(
        fc.record({
          uri: nasty(4),
          summary: nasty(4),
          mimeTypes: fc.constant([]),
          tags: fc.constant([]),
        }),
        { maxLength: 10 },
      ),
      prompts: fc.array(
        fc.record({
          name,
          summary: nasty(4),
          arguments: fc.array(fc.record({ name: nasty(2), required: fc.boolean() }), {
            maxLength: 2,
          }),
          tags: fc.constant([]),
        }),
        { maxLength: 10 },
      ),
    })
    .map(({ description, ...rest }) => ({
      ...rest,
      ...(description !== undefined && { description }),
    }))

/** A program of exactly so many tools, each with long texts. */
export function largeProgram(
  count: number,
  { tags = 5, text = 'Ü'.repeat(150) }: { readonly tags?: number; readonly text?: string } = {},
): ToolsetManifest {
  const long = (index: number): string => `tool_${index}_`.padEnd(64, 'z')
  return {
    name: 'p'.repeat(64),
    version: '1.0.0',
    description: `${text} ${text}`,
    tools: Array.from({ length: count }, (_each, index) =>
      command({
        name: long(index),
        path: [long(index).replaceAll('_', '-')],
        summary: `Does ${index} ${text}`.slice(0, 200),
        description: text.repeat(4),
        tags: [`tag ${index % tags} ${text}`],
        annotations: { destructive: index % 2 === 0, readOnly: index % 2 === 1 },
        session: true,
        streaming: true,
        inputSchema: {
          type: 'object',
          properties: Object.fromEntries(
            Array.from({ length: index % 10 === 0 ? 60 : 2 }, (_field, number) => [
              `field${number}`,
              { type: 'string', description: text },
            ]),
          ),
          required: Array.from(
            { length: index % 10 === 0 ? 30 : 1 },
            (_field, number) => `field${number}`,
          ),
        },
      }),
    ),
    resources: Array.from({ length: 50 }, (_each, index) => ({
      uri: `notes://${index}/${text}`,
      summary: text,
      mimeTypes: [],
      tags: [],
    })),
    prompts: Array.from({ length: 50 }, (_each, index) => ({
      name: `prompt_${index}`,
      summary: text,
      arguments: [],
      tags: [],
    })),
  }
}
