import type { ChildEnd } from '../../process/child-type.ts'
import { isObject } from '../../contract/json.ts'
import { quoteAllForShell } from '../../contract/quote-for-shell.ts'
import type { ChildCall } from '../child/child-call.ts'
import { toolableCall } from '../child/toolable-call.ts'
import type { ForeignFacts } from '../found.ts'
import type { Booth } from './ask.ts'
import { ask, timeAlone } from './ask.ts'
import type { Discovered } from './discovery.ts'
import { readDiscovery } from './discovery.ts'
import type { DumpedTool } from './dumps.ts'
import { callOf, isList, readDump } from './dumps.ts'
import { completeDiscovery } from './manifests.ts'
import type { Question } from './questions.ts'
import { DISCOVER, HELP, MULTI_SCHEMA, SCHEMA, SIMPLE, WANTED } from './questions.ts'
import type { ReadDocument } from './read-document.ts'
import { readDocument } from './read-document.ts'
import type { Setback } from './refusals.ts'
import { explainAnswer, weightiest } from './refusals.ts'
import type { AnsweredForm, ProbeWarning, ProbedTool, Verdict } from './verdict.ts'

const MOST_TOOLS = 1000
/** So many questions that ran out of time or room, and there is no hope for the next one. */
const STRIKES = 2

type Learnt = {
  simple?: true
  dump?: readonly DumpedTool[]
  several?: boolean
  discovered?: Discovered
  help?: { readonly facts: ForeignFacts; readonly call: ChildCall }
}

/** Asks one candidate all questions that may still teach something, and decides what it is: the richest answer wins. */
export async function interview(booth: Booth): Promise<Verdict> {
  const { candidate, options } = booth
  const learnt: Learnt = {}
  const setbacks: Setback[] = []
  let fastest: { readonly question: Question; readonly duration: number } | undefined

  const put = async (
    question: Question,
    learn: (read: ReadDocument, end: ChildEnd) => boolean,
  ): Promise<void> => {
    if (isOver(setbacks)) return
    const end = await ask(booth, question)
    const read = end.reason === 'exited' ? readDocument(end.stdout) : ({ kind: 'nothing' } as const)
    if (end.reason === 'exited' && learn(read, end))
      fastest =
        fastest && fastest.duration < end.duration ? fastest : { question, duration: end.duration }
    else setbacks.push(explainAnswer(candidate, question, end, read))
  }
  const askDiscover = (): Promise<void> =>
    put(DISCOVER, (read, { status }) => {
      const found = status === 0 && read.kind === 'document' ? readDiscovery(read.value) : undefined
      if (found) learnt.discovered = found
      return found !== undefined
    })
  const askSimple = (): Promise<void> =>
    put(SIMPLE, (read, { status }) => {
      if (status === 0 && read.kind === 'document' && isObject(read.value)) learnt.simple = true
      return learnt.simple === true
    })
  const askDump = (question: Question): Promise<void> =>
    put(question, (read, { status }) => {
      const dump = status === 0 && read.kind === 'document' ? readDump(read.value) : undefined
      if (dump)
        Object.assign(learnt, {
          dump,
          several:
            dump.length > 1 ||
            (question === MULTI_SCHEMA && read.kind === 'document' && isList(read.value)),
        })
      return dump !== undefined
    })

  if (candidate.kind === 'executable') await askDiscover()
  if (!learnt.discovered) await askSimple()
  if (!learnt.discovered) await askDump(MULTI_SCHEMA)
  if (!learnt.discovered && !learnt.dump) await askDump(SCHEMA)
  if (candidate.kind === 'script') await askDiscover()
  if (learnt.discovered) learnt.discovered = await completeDiscovery(booth, learnt.discovered)
  const isUnknown = !learnt.discovered && !learnt.dump && !learnt.simple
  if (isUnknown && candidate.help && options.readHelp) {
    await put(HELP, (_read, { stdout, stderr }) => {
      const understood = options.readHelp!(
        (stdout.length > 0 ? stdout : stderr).toString(),
        candidate.name!,
      )
      if (understood)
        learnt.help = {
          facts: understood.facts,
          call: { form: 'program', command: candidate.command, program: understood.program },
        }
      return understood !== undefined
    })
  }
  // Half an interview is none: it would be remembered.
  if (!fastest || setbacks.some(({ reason }) => reason === 'cancelled')) return weightiest(setbacks)
  // In company everybody is slow; the warning is for those that are slow alone.
  const duration =
    fastest.duration <= WANTED
      ? fastest.duration
      : Math.min(fastest.duration, await timeAlone(booth, fastest.question))
  return decide(booth, learnt, duration)
}

function isOver(setbacks: readonly Setback[]): boolean {
  return (
    setbacks.some(({ hopeless }) => hopeless) ||
    setbacks.filter(({ reason }) => reason === 'slow' || reason === 'too-much-output').length >=
      STRIKES
  )
}

function decide(
  { candidate: { command, name = '' } }: Booth,
  { discovered, dump, several, simple, help }: Learnt,
  duration: number,
): Verdict {
  const slow: ProbeWarning[] =
    duration <= WANTED
      ? []
      : [
          {
            reason: 'slow',
            message: `It answered after ${Math.round(duration)} ms; ${WANTED} ms are wanted`,
            fix: 'Look at the arguments first and answer, before heavy imports; or describe it in a YAML file beside it',
          },
        ]
  const give = (
    form: AnsweredForm,
    tools: readonly ProbedTool[],
    rest: Partial<
      Pick<Extract<Verdict, { kind: 'tools' }>, 'program' | 'version' | 'resources' | 'prompts'>
    > = {},
    warnings: readonly ProbeWarning[] = [],
  ): Verdict => ({
    kind: 'tools',
    form,
    tools: tools.slice(0, MOST_TOOLS),
    resources: [],
    prompts: [],
    ...rest,
    warnings: [
      ...slow,
      ...warnings,
      ...(tools.length > MOST_TOOLS
        ? [
            {
              reason: 'too-many' as const,
              message: `It has ${tools.length} tools; the first ${MOST_TOOLS} are taken`,
              fix: 'Divide the program into several',
            },
          ]
        : []),
    ],
  })

  if (discovered) {
    const { tools, program, version, resources, prompts, abilities } = discovered
    const blind = tools
      .filter(({ facts }) => facts.inputSchema === undefined)
      .map((tool) => tool.name)
    return give(
      'discover',
      tools.map((tool) => ({ ...tool, call: toolableCall(command, tool, abilities) })),
      {
        ...(program !== undefined && { program }),
        ...(version !== undefined && { version }),
        resources,
        prompts,
      },
      blind.length === 0
        ? []
        : [
            {
              reason: 'no-schema',
              message: `It does not tell the input of ${blind.slice(0, 5).join(', ')}`,
              fix: `Let it answer: ${quoteAllForShell([...command, blind[0]!, '--manifest'])}`,
            },
          ],
    )
  }
  if (dump && (several || dump[0]!.call === 'function')) {
    return give(
      'multi-schema',
      dump.flatMap((tool) => {
        const { args, form } = callOf(tool)
        return tool.name === undefined
          ? []
          : [
              {
                name: tool.name,
                facts: tool.facts,
                call: { form, command: [...command, ...args] as const },
              },
            ]
      }),
    )
  }
  if (dump) {
    const [{ facts, call, name: own }] = dump as [DumpedTool]
    const form =
      call === 'json' || call === 'stdin' || call === 'flags' ? call : simple ? 'json' : 'flags'
    return give('schema', [{ name: own ?? name, facts, call: { form, command } }])
  }
  if (simple) return give('simple', [{ name, facts: {}, call: { form: 'json', command } }])
  return give('help', help ? [{ name, ...help }] : [])
}
