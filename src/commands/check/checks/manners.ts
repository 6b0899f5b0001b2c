import { doubtful, failed, PASS } from '../check-type.ts'
import type { Check } from '../check-type.ts'
import { fieldOfType, flagOf } from '../subject/fields.ts'
import { documentOf, ending, excerpt } from '../subject/parse-document.ts'
import { callArguments } from '../subject/refusal.ts'
import type { Subject } from '../subject/subject.ts'
import { skipSilent } from './discovery.ts'
import { HELP } from './help.ts'

/** It ends by itself where nobody answers. */
export const noPrompts: Check = {
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
    return stuck
      ? failed(
          `${stuck.args.length === 0 ? 'without arguments' : stuck.args.join(' ')}: ${stuck.trouble}`,
          'Never wait for a terminal or for stdin that nobody writes: fail and say what is missing',
        )
      : PASS
  },
}

const ESCAPES = /\u001b\[|\u009b/

/** It paints only terminals. */
export const noEscapes: Check = {
  id: 'no-escapes',
  title: 'writes no colours and other escapes into a pipe',
  weight: 3,
  turn: 'last',
  async run({ ask, runs }) {
    await ask(HELP.args, HELP.options)
    const painted = runs.find(({ stdout }) => ESCAPES.test(stdout))
    return painted
      ? failed(
          `${painted.args.join(' ')} printed escape sequences`,
          'Use colours only where stdout is a terminal, and never with NO_COLOR',
        )
      : PASS
  },
}

const COMPLAINTS = /Traceback|BrokenPipe|EPIPE|Broken pipe|Unhandled|write error/i

/** It bears a reader that leaves. */
export const closedPipe: Check = {
  id: 'closed-pipe',
  title: 'ends quietly when nobody reads its output (`| head`)',
  weight: 3,
  async run({ ask, discovery, speech }) {
    const { stderr, trouble } = await ask(speech === 'nothing' ? ['--help'] : discovery.args, {
      unread: true,
    })
    if (trouble !== undefined) return failed(trouble, 'End when stdout is closed')
    return COMPLAINTS.test(stderr)
      ? failed(
          `it complained: ${excerpt({ stdout: '', stderr })}`,
          'Treat EPIPE on stdout as the end of the work, without a stack trace',
        )
      : PASS
  },
}

/** What stands behind a flag is a value. */
export const controlFlagAsValue: Check = {
  id: 'flag-as-value',
  title: 'takes `--field --help` as a value, not as a question',
  weight: 3,
  skip: (subject) =>
    subject.speech === 'discover'
      ? textTool(subject)
        ? undefined
        : 'no tool has a field for text'
      : 'it takes JSON, not flags',
  async run(subject) {
    const tool = textTool(subject)!
    const [field] = fieldOfType(tool, ['string'])!
    // The unknown flag at the end keeps the tool from running whatever is made of the rest.
    const ran = await subject.ask(
      callArguments(subject, tool, flagOf(field), '--help', '--no-such-flag-here'),
    )
    if (ran.status !== 0 && documentOf(ran)) return PASS
    return doubtful(
      `${ran.args.join(' ')} gave ${excerpt(ran)} (${ending(ran)})`,
      'A flag that takes a value takes the next argument, whatever it looks like',
    )
  },
}

/** It does what it promises, on stdout and nowhere else. */
export const pureSuccess: Check = {
  id: 'pure-success',
  title: 'answers a call with exactly one JSON document',
  weight: 8,
  skip: (subject) =>
    skipSilent(subject) ??
    (callable(subject)
      ? undefined
      : 'no tool with an example is marked read-only; --call allows a call'),
  async run(subject) {
    const tool = callable(subject)!
    const ran = await subject.ask(
      callArguments(subject, tool, JSON.stringify(tool.examples.find(({ input }) => input)!.input)),
    )
    const said = `the example of ${tool.name} gave ${excerpt(ran)} (${ending(ran)})`
    if (!documentOf(ran))
      return failed(said, 'Print exactly one JSON document on stdout and everything else on stderr')
    return PASS
  },
}

function textTool(subject: Subject) {
  return subject.tools.find((tool) => fieldOfType(tool, ['string']))
}

function callable({ tools, mayCall }: Subject) {
  return tools.find(
    ({ annotations, examples }) =>
      (annotations.readOnly === true || mayCall) && examples.some(({ input }) => input),
  )
}
