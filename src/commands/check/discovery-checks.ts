/**
 * Checks of what a program tells about itself: discovery, summaries, schemas, examples and help.
 */

import { isDeepStrictEqual } from 'node:util'
import { validateInput } from '../../core/validate.ts'
import { defineForeign } from '../../registry/foreign/define-foreign.ts'
import { compact, isObject } from '../../util/values.ts'
import type { CheckSubject, DescribedTool, ReadinessCheck } from './subject.ts'
import {
  createFailure,
  createWarning,
  describeAnswer,
  listFields,
  parseDocument,
  PASS,
  toExcerpt,
} from './subject.ts'

const DISCOVERY_FIX =
  'Write it with tool() and toolset(), or with a helper of emitters/, or put a manifest beside it: a line `toolable: {"name": ..., "summary": ..., "input": {...}}` in a comment near its top'

/** The reason for not looking further at a program that tells nothing. */
export function getSilentReason({ speech }: CheckSubject): string | undefined {
  return speech === 'nothing' ? 'it does not tell what it is' : undefined
}

/** It tells what it is. */
export const discoveryCheck: ReadinessCheck = {
  id: 'discovery',
  title: 'tells what it is, as JSON',
  weight: 30,
  run({ speech, discovery: ran }) {
    if (speech === 'discover' || speech === 'dump' || speech === 'multi-dump') return PASS
    if (speech === 'simple')
      return createWarning(
        'it answers the Simple JSON question, but shows no schema',
        'Answer --fractalic-dump-schema with {"description", "parameters"}, or --discover and --schema',
      )
    return createFailure(`--discover gave ${describeAnswer(ran)}`, DISCOVERY_FIX)
  },
}

/** It has tools. */
export const hasToolsCheck: ReadinessCheck = {
  id: 'has-tools',
  title: 'has at least one tool',
  weight: 5,
  skip: getSilentReason,
  run: ({ tools }) =>
    tools.length > 0 ? PASS : createFailure('its list of tools is empty', 'Add a tool'),
}

/** It says the same twice. */
export const deterministicCheck: ReadinessCheck = {
  id: 'discovery-deterministic',
  title: 'describes itself the same way every time',
  weight: 3,
  skip: getSilentReason,
  async run({ ask, discovery: first }) {
    const second = await ask(first.args, { again: true })
    return isDeepStrictEqual(parseDocument(first)?.value, parseDocument(second)?.value)
      ? PASS
      : createFailure(
          'two answers to the same question differ',
          'Leave times, random numbers and process ids out of discovery: hosts cache it',
        )
  },
}

const MAX_FAST_RATIO = 6
const MAX_SLOW_RATIO = 20
const MIN_PAIRS = 2
const MAX_PAIRS = 12

/** It says it quickly. */
export const discoveryTimeCheck: ReadinessCheck = {
  id: 'discovery-time',
  title: `describes itself within ${MAX_FAST_RATIO} times the start of its interpreter`,
  weight: 5,
  turn: 'first',
  skip: getSilentReason,
  async run(subject) {
    const ratio = await measureStartRatio(subject)
    if (ratio <= MAX_FAST_RATIO) return PASS
    const found = `it takes ${ratio.toFixed(1)} times as long as its interpreter alone`
    const fix =
      'Load heavy modules where they are used, not at the top, and answer questions about the tool before anything else'
    return ratio <= MAX_SLOW_RATIO ? createWarning(found, fix) : createFailure(found, fix)
  },
}

// A busy machine is not the fault of the program: both are started in turn, so that they meet the
// same load, and while in doubt again, until each had a quiet moment.
async function measureStartRatio({
  ask,
  discovery: { args },
  bareStart,
}: CheckSubject): Promise<number> {
  let bare = Infinity
  let own = Infinity
  const ratio = (): number => own / Math.max(1, bare)
  for (
    let pairs = 0;
    pairs < MIN_PAIRS ||
    (pairs < MAX_PAIRS && ratio() > MAX_FAST_RATIO && ratio() <= 2 * MAX_SLOW_RATIO);
    pairs++
  ) {
    bare = Math.min(bare, await bareStart())
    own = Math.min(own, (await ask(args, { again: true })).duration)
  }
  return ratio()
}

const MAX_SUMMARY_CHARS = 200
const MIN_SUMMARY_CHARS = 8

/** Every tool has one line about it. */
export const summaryCheck: ReadinessCheck = {
  id: 'summary',
  title: 'every tool has a summary in one line',
  weight: 6,
  skip: getSilentReason,
  run({ tools }) {
    const bad = tools.filter(
      ({ name, summary }) =>
        summary.length < MIN_SUMMARY_CHARS ||
        summary.length > MAX_SUMMARY_CHARS ||
        summary.includes('\n') ||
        hasSameWords(summary, name),
    )
    return requireNone(
      getNames(bad),
      'no useful summary',
      `Say in ${MIN_SUMMARY_CHARS} to ${MAX_SUMMARY_CHARS} characters what the tool does and when to use it: a model chooses by this line`,
    )
  },
}

/** Every tool shows what it takes. */
export const inputSchemaCheck: ReadinessCheck = {
  id: 'input-schema',
  title: 'every tool has an input schema that is an object',
  weight: 8,
  skip: getSilentReason,
  run({ tools }) {
    const bad = tools.filter(
      ({ inputSchema }) =>
        inputSchema?.['type'] !== 'object' || typeof inputSchema['properties'] !== 'object',
    )
    return requireNone(
      getNames(bad),
      'no input schema',
      'Publish {"type": "object", "properties": {...}} for every tool, by --schema or --fractalic-dump-schema',
    )
  },
}

/** Every field says what it is for. */
export const describedFieldsCheck: ReadinessCheck = {
  id: 'described-fields',
  title: 'every field has a type and a description',
  weight: 6,
  skip: (subject) =>
    getSilentReason(subject) ??
    (subject.tools.every((tool) => listFields(tool).length === 0)
      ? 'no tool has fields'
      : undefined),
  run({ tools }) {
    const bad = tools.flatMap((tool) =>
      listFields(tool)
        .filter(([, { description }]) => typeof description !== 'string' || !description.trim())
        .map(([field]) => `${tool.name}.${field}`),
    )
    return requireNone(
      bad,
      'without a description',
      'Give each property a "description" (in zod: .describe(...)): a model fills fields by it',
    )
  },
}

function hasSameWords(left: string, right: string): boolean {
  const letters = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '')
  return letters(left) === letters(right)
}

const MAX_LISTED_NAMES = 5

function listSome(names: readonly string[]): string {
  const more = names.length - MAX_LISTED_NAMES
  return `${names.slice(0, MAX_LISTED_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

// Passes where no tool has the fault.
function requireNone(
  names: readonly string[],
  fault: string,
  fix: string,
): ReturnType<typeof createFailure> {
  return names.length === 0 ? PASS : createFailure(`${fault}: ${listSome(names)}`, fix)
}

function getNames(tools: readonly DescribedTool[]): readonly string[] {
  return tools.map(({ name }) => name)
}

/** Its examples would work. */
export const examplesCheck: ReadinessCheck = {
  id: 'examples',
  title: 'the examples of its tools fit their own schemas',
  weight: 4,
  skip: (subject) =>
    getSilentReason(subject) ??
    (subject.tools.some(hasExample) ? undefined : 'it shows no examples with an input'),
  async run({ tools }) {
    for (const tool of tools.filter(hasExample)) {
      const definition = defineForeign(
        'checked',
        compact({ inputSchema: tool.inputSchema ? stripPathRules(tool.inputSchema) : undefined }),
        () => undefined,
      )
      for (const { input } of tool.examples) {
        const problem = input && (await validateInput(definition, input))
        if (problem)
          return createFailure(
            `an example of ${tool.name} is refused: ${problem.message}`,
            'Mend the example: models copy it',
          )
      }
    }
    return PASS
  },
}

function hasExample({ examples: given, inputSchema }: DescribedTool): boolean {
  return inputSchema !== undefined && given.some(({ input }) => isObject(input))
}

// Whether a file exists says nothing about the form of an example.
function stripPathRules(schema: unknown): never {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === 'x-toolable-path' ? undefined : value,
  ) as never
}

const MIN_HELP_CHARS = 40

/** The question for help, asked as from a terminal that could show colours. */
export const HELP_QUESTION = {
  args: ['--help'],
  options: { env: { TERM: 'xterm-256color', NO_COLOR: '' } },
} as const

/** It helps a person. */
export const helpCheck: ReadinessCheck = {
  id: 'help',
  title: '--help prints help on stdout and exits 0',
  weight: 5,
  async run({ ask }) {
    const ran = await ask(HELP_QUESTION.args, HELP_QUESTION.options)
    const fix = 'Print usage, arguments and options for --help on stdout, and exit 0'
    if (ran.trouble !== undefined || ran.status !== 0)
      return createFailure(`--help gave ${describeAnswer(ran)}`, fix)
    if (ran.stdout.trim().length >= MIN_HELP_CHARS) return PASS
    return createWarning(
      `--help printed ${toExcerpt(ran)}${ran.stderr.trim().length >= MIN_HELP_CHARS ? ' and the help on stderr' : ''}`,
      fix,
    )
  },
}

/** Its help can be read by a program too. */
export const readableHelpCheck: ReadinessCheck = {
  id: 'readable-help',
  title: 'its help is written so that usage and options can be read from it',
  weight: 4,
  async run(subject) {
    const { readHelp } = await import('../../registry/help/read-help.ts')
    const { stdout, stderr } = await subject.ask(HELP_QUESTION.args, HELP_QUESTION.options)
    const { usage, options, commands } = readHelp(stdout.trim() === '' ? stderr : stdout)
    const missing = [
      ...(usage === '' ? ['a usage line'] : []),
      ...(options.length === 0 && commands.length === 0 ? ['options'] : []),
    ]
    const bare = options.filter(({ description }) => description.trim() === '')
    if (missing.length > 0)
      return createFailure(
        `no ${missing.join(' and no ')} could be found in it`,
        'Write help in a usual form: `usage: name [options] <file>`, then one line for each option, `--flag <value>  what it does`',
      )
    if (bare.length * 2 > options.length)
      return createWarning(
        `${bare.length} of ${options.length} options have no description`,
        'Say behind each option what it does',
      )
    return PASS
  },
}
