import type { DialectContext } from '../../contract/dialects/dialect.ts'
import { loadWriter } from '../../contract/dialects/load.ts'
import type { Answerer, Interaction, Sampler } from '../../contract/interaction.ts'
import type { ByteSource } from '../../contract/io.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { LineDialogue } from './dialogue.ts'
import { readLines } from './lines.ts'
import type { LineReader } from './lines.ts'
import { oneAtATime } from './one-at-a-time.ts'
import type { ToolCall } from './tool-call.ts'

/** Who answers a tool on this command line; what is absent, nobody can do. */
export type Responders = {
  readonly confirm: false | ((question: Interaction) => Promise<boolean | undefined>)
  readonly answer?: Answerer
  readonly sample?: Sampler
}

type Connecting = {
  readonly call: Pick<
    ToolCall,
    'io' | 'globals' | 'caller' | 'presentation' | 'ending' | 'observer'
  >
  readonly context: DialectContext
  send(line: object): Promise<void>
  whileAsking<T>(work: () => Promise<T>): Promise<T>
}

/** Connects a tool's questions to whoever is there: a person at the terminal, or the caller by JSON lines. */
export function connectResponders({ call, context, send, whileAsking }: Connecting): Responders {
  const { io, globals, caller, presentation, observer } = call
  // Stdin has one owner: everything that reads lines shares one reader.
  let lines: LineReader | undefined
  const sharedLines = (): LineReader => (lines ??= readLines(io.stdin))
  let dialogue: Promise<LineDialogue> | undefined
  const lineWise = (): Promise<LineDialogue> =>
    (dialogue ??= (async () => {
      const [{ lineDialogue }, writer] = await Promise.all([
        import('./dialogue.ts'),
        loadWriter(presentation.dialect),
      ])
      return lineDialogue({
        lines: sharedLines(),
        send,
        question: (question) => writer.question(question, context),
        asking: (question) => observer?.onQuestion(question, 'line'),
      })
    })())
  const person = io.stdin.isTTY && io.stderr.isTTY && !caller && !globals.session
  // A runner writes the answers of whoever is there to our stdin, and closes it where nobody is.
  const supervised = presentation.dialect === 'acor' && !io.stdin.isTTY && !io.stdin.taken

  const inTurn = oneAtATime()
  const askPerson: Answerer = (question, signal) =>
    inTurn(signal, async () => {
      const { terminalAnswerer } = await import('./terminal.ts')
      observer?.onQuestion(question, 'words')
      return whileAsking(async () =>
        terminalAnswerer(sharedLines(), io.stderr, await io.screen?.())(question, signal),
      )
    })
  const answer: Answerer | undefined = person
    ? askPerson
    : globals.session || supervised
      ? async (question, signal) => (await lineWise()).answer(question, signal)
      : undefined
  return {
    confirm: answer
      ? async (question) =>
          toDecision(
            await answer(question, 'signal' in call.ending ? call.ending.signal : call.ending),
          )
      : false,
    ...(answer && { answer }),
    ...sampler(globals.sampleVia, io.stdin, async (request, signal) =>
      (await lineWise()).sample(request, signal),
    ),
  }
}

// Anything else is no answer: nobody has said no, and nobody has agreed.
function toDecision(answer: unknown): boolean | undefined {
  return typeof answer === 'boolean' ? answer : undefined
}

// Without a word about it, completions are asked on stdin, unless a person sits there or the input came from it.
function sampler(
  via: string | undefined,
  stdin: ByteSource,
  byLines: Sampler,
): { readonly sample?: Sampler } {
  if (via === undefined) return stdin.isTTY || stdin.taken ? {} : { sample: byLines }
  if (via === 'stdin') return { sample: byLines }
  if (!/^https?:\/\//.test(via))
    throw new ToolError(
      'USAGE',
      `--sample-via must be stdin or an http(s) address; got '${via.slice(0, 60)}'`,
      { field: 'sample-via' },
    )
  return {
    sample: async (request, signal) =>
      (await import('./sample-http.ts')).httpSampler(via)(request, signal),
  }
}
