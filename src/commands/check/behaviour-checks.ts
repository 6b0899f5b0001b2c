/**
 * Checks of how a program behaves: wrong input, closed stdin, pipes, colours and results.
 */

import { getSilentReason, HELP_QUESTION } from './discovery-checks.ts'
import type {
  CheckSubject,
  CheckVerdict,
  DescribedTool,
  ReadinessCheck,
  RefusedCall,
} from './subject.ts'
import {
  createFailure,
  createWarning,
  describeAnswer,
  findFieldOfType,
  listRequiredFields,
  parseDocument,
  PASS,
  provokeRefusal,
  toCallArguments,
  toExcerpt,
  toFlag,
} from './subject.ts'

const WRONG_VALUES: { readonly [type: string]: unknown } = {
  string: 7,
  integer: 'seven',
  number: 'seven',
  boolean: 'maybe',
  array: 'none',
  object: 'none',
}

// A program that checks nothing would do its work with a wrong input: it gets one only where nothing
// can happen, or where the contract forbids it.
function getUnsafeReason(subject: CheckSubject): string | undefined {
  return (
    getSilentReason(subject) ??
    (subject.speech === 'discover' || subject.contained || subject.mayCall
      ? undefined
      : 'it may do its work with a wrong input, and there is no sandbox; --call allows it')
  )
}

function getFlaglessReason({ speech }: CheckSubject): string | undefined {
  return speech === 'discover' ? undefined : 'it takes JSON, not flags'
}

const findToolWithRequired = ({ tools }: CheckSubject): DescribedTool | undefined =>
  tools.find((tool) => listRequiredFields(tool).length > 0)
const findToolWithField = ({ tools }: CheckSubject): DescribedTool | undefined =>
  tools.find((tool) => findFieldOfType(tool, Object.keys(WRONG_VALUES)))

/** It refuses what is no JSON. */
export const badJsonCheck: ReadinessCheck = {
  id: 'bad-json',
  title: 'refuses broken JSON with a JSON error and a failing exit status',
  weight: 6,
  skip: getSilentReason,
  async run(subject) {
    const args = toCallArguments(subject, subject.tools[0]!, '{"broken": ')
    return judgeRefusal(subject, await provokeRefusal(subject, args), 'broken JSON') ?? PASS
  },
}

/** It refuses an input that lacks something. */
export const missingFieldCheck: ReadinessCheck = {
  id: 'missing-field',
  title: 'refuses an input without a required field, and names the field',
  weight: 6,
  skip: (subject) =>
    getUnsafeReason(subject) ??
    (findToolWithRequired(subject) ? undefined : 'no tool has required fields'),
  async run(subject) {
    const tool = findToolWithRequired(subject)!
    const refusal = await provokeRefusal(subject, toCallArguments(subject, tool, '{}'))
    const fields = listRequiredFields(tool)
    return (
      judgeRefusal(subject, refusal, `{} for ${tool.name}`) ??
      requireMention(refusal, fields, `the missing field '${fields[0]}'`)
    )
  },
}

/** It refuses a value of the wrong type. */
export const wrongTypeCheck: ReadinessCheck = {
  id: 'wrong-type',
  title: 'refuses a value of the wrong type, and names the field',
  weight: 6,
  skip: (subject) =>
    getUnsafeReason(subject) ??
    (findToolWithField(subject) ? undefined : 'no tool has fields of a simple type'),
  async run(subject) {
    const tool = findToolWithField(subject)!
    const [field, schema] = findFieldOfType(tool, Object.keys(WRONG_VALUES))!
    const input = JSON.stringify({ [field]: WRONG_VALUES[String(schema['type'])] })
    const refusal = await provokeRefusal(subject, toCallArguments(subject, tool, input))
    return (
      judgeRefusal(subject, refusal, `${input} for ${tool.name}`) ??
      requireMention(refusal, [field, ...listRequiredFields(tool)], `the field '${field}'`)
    )
  },
}

const UNKNOWN_KEY = 'n\u00f8_such_\u540d'

/** It refuses what it does not know, whatever alphabet that is written in. */
export const unknownKeyCheck: ReadinessCheck = {
  id: 'unknown-key',
  title: 'refuses an unknown key, and names it in its own letters',
  weight: 5,
  // With nothing else missing, a program that ignores the key would go to work.
  skip: (subject) =>
    getUnsafeReason(subject) ??
    (findToolWithRequired(subject) ? undefined : 'no tool has required fields'),
  async run(subject) {
    const tool = findToolWithRequired(subject)!
    const input = JSON.stringify({ [UNKNOWN_KEY]: 1 })
    const refusal = await provokeRefusal(subject, toCallArguments(subject, tool, input))
    return (
      judgeRefusal(subject, refusal, 'an unknown key') ??
      requireMention(refusal, [UNKNOWN_KEY], 'the key that it does not know')
    )
  },
}

/** It refuses an unknown flag. */
export const unknownFlagCheck: ReadinessCheck = {
  id: 'unknown-flag',
  title: 'refuses an unknown flag with a JSON error',
  weight: 5,
  skip: getFlaglessReason,
  async run(subject) {
    const args = toCallArguments(subject, subject.tools[0]!, '--no-such-flag-here')
    const refusal = await provokeRefusal(subject, args)
    return (
      judgeRefusal(subject, refusal, 'an unknown flag') ??
      requireMention(refusal, ['no-such-flag-here'], 'the flag')
    )
  },
}

/** It refuses a tool that it does not have. */
export const unknownToolCheck: ReadinessCheck = {
  id: 'unknown-tool',
  title: 'refuses a tool that it does not have',
  weight: 4,
  skip: ({ speech, tools }) =>
    speech === 'nothing' || tools.length < 2 ? 'it has no tools to choose from' : undefined,
  async run(subject) {
    const refusal = await provokeRefusal(subject, ['no_such_tool_here', '{}'])
    return judgeRefusal(subject, refusal, 'an unknown tool') ?? PASS
  },
}

const INPUT_STATUSES = [2, 64, 65, 66]

function judgeRefusal(
  { speech }: CheckSubject,
  { ran, document, error, hasCode }: RefusedCall,
  what: string,
): CheckVerdict | undefined {
  const answered = `${what} gave ${describeAnswer(ran)}`
  const fail = (fix: string): CheckVerdict => createFailure(answered, fix)
  if (ran.trouble !== undefined)
    return fail('Read no more than what was given, refuse what is wrong, and end')
  if (ran.status === 0)
    return fail(
      'Exit with a status that is not 0 when a call fails: 2 for wrong flags, 65 for wrong JSON',
    )
  if (!document)
    return fail(
      'Print one JSON document on stdout for failures too: {"ok": false, "error": {"code": ..., "message": ...}}',
    )
  if (!error) return fail('Put the failure into "error": {"error": {"code": ..., "message": ...}}')
  if (!hasCode)
    return createWarning(
      answered,
      'Add a stable "code" to the error, such as INVALID_INPUT: a caller decides by it',
    )
  if (speech !== 'discover' || INPUT_STATUSES.includes(ran.status!)) return undefined
  return createWarning(
    answered,
    'Exit 2 for wrong flags and 65 for wrong JSON, so that a caller knows whose fault it was',
  )
}

function requireMention(
  { document }: RefusedCall,
  words: readonly string[],
  what: string,
): CheckVerdict {
  const text = JSON.stringify(document?.value)
  return words.some((word) => text.includes(JSON.stringify(word).slice(1, -1)))
    ? PASS
    : createWarning(
        `the error does not name ${what}`,
        'Name what is wrong in the error, so that a caller can repair it',
      )
}

/** It ends by itself where stdin is closed. */
export const noPromptsCheck: ReadinessCheck = {
  id: 'no-prompts',
  title: 'asks nothing and ends where stdin is closed',
  weight: 8,
  turn: 'last',
  skip: ({ speech, contained, mayCall }) =>
    speech === 'nothing' && !contained && !mayCall
      ? 'without arguments it may do anything, and there is no sandbox; --call allows it'
      : undefined,
  async run({ ask, runs }) {
    await ask([])
    const stuck = runs.find(({ trouble }) => trouble !== undefined)
    if (!stuck) return PASS
    return createFailure(
      `${stuck.args.join(' ') || 'without arguments'}: ${stuck.trouble}`,
      'Never wait for a terminal or for stdin that nobody writes: fail and say what is missing',
    )
  },
}

const ESCAPE_PATTERN = /\u001b\[|\u009b/

/** It paints only terminals. */
export const noEscapesCheck: ReadinessCheck = {
  id: 'no-escapes',
  title: 'writes no colours and other escapes into a pipe',
  weight: 3,
  turn: 'last',
  async run({ ask, runs }) {
    await ask(HELP_QUESTION.args, HELP_QUESTION.options)
    const painted = runs.find(({ stdout }) => ESCAPE_PATTERN.test(stdout))
    if (!painted) return PASS
    return createFailure(
      `${painted.args.join(' ')} printed escape sequences`,
      'Use colours only where stdout is a terminal, and never with NO_COLOR',
    )
  },
}

const PIPE_ERROR_PATTERN = /Traceback|BrokenPipe|EPIPE|Broken pipe|Unhandled|write error/i

/** It bears a reader that leaves. */
export const closedPipeCheck: ReadinessCheck = {
  id: 'closed-pipe',
  title: 'ends quietly when nobody reads its output (`| head`)',
  weight: 3,
  async run({ ask, discovery, speech }) {
    const { stderr, trouble } = await ask(speech === 'nothing' ? ['--help'] : discovery.args, {
      unread: true,
    })
    if (trouble !== undefined) return createFailure(trouble, 'End when stdout is closed')
    if (!PIPE_ERROR_PATTERN.test(stderr)) return PASS
    return createFailure(
      `it complained: ${toExcerpt({ stdout: '', stderr })}`,
      'Treat EPIPE on stdout as the end of the work, without a stack trace',
    )
  },
}

/** What stands behind a flag is a value. */
export const flagAsValueCheck: ReadinessCheck = {
  id: 'flag-as-value',
  title: 'takes `--field --help` as a value, not as a question',
  weight: 3,
  skip: (subject) =>
    getFlaglessReason(subject) ??
    (findTextTool(subject) ? undefined : 'no tool has a field for text'),
  async run(subject) {
    const tool = findTextTool(subject)!
    const [field] = findFieldOfType(tool, ['string'])!
    // The unknown flag at the end keeps the tool from running whatever is made of the rest.
    const ran = await subject.ask(
      toCallArguments(subject, tool, toFlag(field), '--help', '--no-such-flag-here'),
    )
    if (ran.status !== 0 && parseDocument(ran)) return PASS
    return createWarning(
      `${ran.args.join(' ')} gave ${describeAnswer(ran)}`,
      'A flag that takes a value takes the next argument, whatever it looks like',
    )
  },
}

/** It does what it promises, on stdout and nowhere else. */
export const pureSuccessCheck: ReadinessCheck = {
  id: 'pure-success',
  title: 'answers a call with exactly one JSON document',
  weight: 8,
  skip: (subject) =>
    getSilentReason(subject) ??
    (findCallableTool(subject)
      ? undefined
      : 'no tool with an example is marked read-only; --call allows a call'),
  async run(subject) {
    const tool = findCallableTool(subject)!
    const input = JSON.stringify(tool.examples.find((example) => example.input)!.input)
    const ran = await subject.ask(toCallArguments(subject, tool, input))
    if (parseDocument(ran)) return PASS
    return createFailure(
      `the example of ${tool.name} gave ${describeAnswer(ran)}`,
      'Print exactly one JSON document on stdout and everything else on stderr',
    )
  },
}

function findTextTool(subject: CheckSubject) {
  return subject.tools.find((tool) => findFieldOfType(tool, ['string']))
}

function findCallableTool({ tools, mayCall }: CheckSubject) {
  return tools.find(
    ({ annotations, examples }) =>
      (annotations.readOnly === true || mayCall) && examples.some(({ input }) => input),
  )
}
