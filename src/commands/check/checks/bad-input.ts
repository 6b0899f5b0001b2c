import { doubtful, failed, PASS } from '../check-type.ts'
import type { Check, Verdict } from '../check-type.ts'
import { fieldOfType, requiredOf } from '../subject/fields.ts'
import { ending, excerpt } from '../subject/parse-document.ts'
import { callArguments, provoke } from '../subject/refusal.ts'
import type { Refusal } from '../subject/refusal.ts'
import type { DescribedTool, Subject } from '../subject/subject.ts'
import { skipSilent } from './discovery.ts'

const WRONG_VALUES: { readonly [type: string]: unknown } = {
  string: 7,
  integer: 'seven',
  number: 'seven',
  boolean: 'maybe',
  array: 'none',
  object: 'none',
}

// Who checks nothing would do its work with a wrong input: only where nothing can happen, or where the contract forbids it.
function skipUnsafe(subject: Subject): string | undefined {
  return (
    skipSilent(subject) ??
    (subject.speech === 'discover' || subject.contained || subject.mayCall
      ? undefined
      : 'it may do its work with a wrong input, and there is no sandbox; --call allows it')
  )
}

const toolWithRequired = ({ tools }: Subject): DescribedTool | undefined =>
  tools.find((tool) => requiredOf(tool).length > 0)
const toolWithField = ({ tools }: Subject): DescribedTool | undefined =>
  tools.find((tool) => fieldOfType(tool, Object.keys(WRONG_VALUES)))

/** It refuses what is no JSON. */
export const badJson: Check = {
  id: 'bad-json',
  title: 'refuses broken JSON with a JSON error and a failing exit status',
  weight: 6,
  skip: skipSilent,
  async run(subject) {
    return (
      judge(
        subject,
        await provoke(subject, callArguments(subject, subject.tools[0]!, '{"broken": ')),
        'broken JSON',
      ) ?? PASS
    )
  },
}

/** It refuses an input that lacks something. */
export const missingField: Check = {
  id: 'missing-field',
  title: 'refuses an input without a required field, and names the field',
  weight: 6,
  skip: (subject) =>
    skipUnsafe(subject) ?? (toolWithRequired(subject) ? undefined : 'no tool has required fields'),
  async run(subject) {
    const tool = toolWithRequired(subject)!
    const refusal = await provoke(subject, callArguments(subject, tool, '{}'))
    const [field] = requiredOf(tool)
    return (
      judge(subject, refusal, `{} for ${tool.name}`) ??
      mentions(refusal, requiredOf(tool), `the missing field '${field}'`)
    )
  },
}

/** It refuses a value of the wrong type. */
export const wrongType: Check = {
  id: 'wrong-type',
  title: 'refuses a value of the wrong type, and names the field',
  weight: 6,
  skip: (subject) =>
    skipUnsafe(subject) ??
    (toolWithField(subject) ? undefined : 'no tool has fields of a simple type'),
  async run(subject) {
    const tool = toolWithField(subject)!
    const [field, schema] = fieldOfType(tool, Object.keys(WRONG_VALUES))!
    const input = JSON.stringify({ [field]: WRONG_VALUES[String(schema['type'])] })
    const refusal = await provoke(subject, callArguments(subject, tool, input))
    return (
      judge(subject, refusal, `${input} for ${tool.name}`) ??
      mentions(refusal, [field, ...requiredOf(tool)], `the field '${field}'`)
    )
  },
}

const STRANGE_KEY = 'n\u00f8_such_\u540d'

/** It refuses what it does not know, whatever alphabet that is written in. */
export const unknownKey: Check = {
  id: 'unknown-key',
  title: 'refuses an unknown key, and names it in its own letters',
  weight: 5,
  // With nothing else missing, a program that ignores the key would go to work.
  skip: (subject) =>
    skipUnsafe(subject) ?? (toolWithRequired(subject) ? undefined : 'no tool has required fields'),
  async run(subject) {
    const tool = toolWithRequired(subject)!
    const refusal = await provoke(
      subject,
      callArguments(subject, tool, JSON.stringify({ [STRANGE_KEY]: 1 })),
    )
    return (
      judge(subject, refusal, 'an unknown key') ??
      mentions(refusal, [STRANGE_KEY], 'the key that it does not know')
    )
  },
}

/** It refuses an unknown flag. */
export const unknownFlag: Check = {
  id: 'unknown-flag',
  title: 'refuses an unknown flag with a JSON error',
  weight: 5,
  skip: ({ speech }) => (speech === 'discover' ? undefined : 'it takes JSON, not flags'),
  async run(subject) {
    const refusal = await provoke(
      subject,
      callArguments(subject, subject.tools[0]!, '--no-such-flag-here'),
    )
    return (
      judge(subject, refusal, 'an unknown flag') ??
      mentions(refusal, ['no-such-flag-here'], 'the flag')
    )
  },
}

/** It refuses a tool that it does not have. */
export const unknownTool: Check = {
  id: 'unknown-tool',
  title: 'refuses a tool that it does not have',
  weight: 4,
  skip: ({ speech, tools }) =>
    speech === 'nothing' || tools.length < 2 ? 'it has no tools to choose from' : undefined,
  async run(subject) {
    return (
      judge(subject, await provoke(subject, ['no_such_tool_here', '{}']), 'an unknown tool') ?? PASS
    )
  },
}

const INPUT_STATUSES = [2, 64, 65, 66]

function judge(
  { speech }: Subject,
  { ran, document, error, hasCode }: Refusal,
  what: string,
): Verdict | undefined {
  const answered = `${what} gave ${excerpt(ran)} (${ending(ran)})`
  if (ran.trouble !== undefined)
    return failed(answered, 'Read no more than what was given, refuse what is wrong, and end')
  if (ran.status === 0)
    return failed(
      answered,
      'Exit with a status that is not 0 when a call fails: 2 for wrong flags, 65 for wrong JSON',
    )
  if (!document)
    return failed(
      answered,
      'Print one JSON document on stdout for failures too: {"ok": false, "error": {"code": ..., "message": ...}}',
    )
  if (!error)
    return failed(
      answered,
      'Put the failure into "error": {"error": {"code": ..., "message": ...}}',
    )
  if (!hasCode)
    return doubtful(
      answered,
      'Add a stable "code" to the error, such as INVALID_INPUT: a caller decides by it',
    )
  if (speech === 'discover' && !INPUT_STATUSES.includes(ran.status!))
    return doubtful(
      answered,
      'Exit 2 for wrong flags and 65 for wrong JSON, so that a caller knows whose fault it was',
    )
  return undefined
}

function mentions({ document }: Refusal, words: readonly string[], what: string): Verdict {
  const text = JSON.stringify(document?.value)
  return words.some((word) => text.includes(JSON.stringify(word).slice(1, -1)))
    ? PASS
    : doubtful(
        `the error does not name ${what}`,
        'Name what is wrong in the error, so that a caller can repair it',
      )
}
