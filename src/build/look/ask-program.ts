import { RECORD } from '../../built/zod/recorded.ts'
import type { Recorded } from '../../built/zod/recorded.ts'
import { isExact } from '../../built/zod/exact.ts'
import { checkExamples } from '../../define/check-examples.ts'
import { writeEarly } from '../../define/early/read-schema.ts'
import type { Servable } from '../../call/servable.ts'
import { COMPLETE_COMMAND } from '../../surfaces/cli/builtin-commands.ts'
import type { TakenProgram } from '../../surfaces/cli/run.ts'
import type { Answer, Look } from './answer.ts'
import { capturedIo, quietHost } from './captured-io.ts'

const AN_AGENT = { TOOLABLE_CALLER: 'agent' }

/** Asks a program everything that its file shall answer. Throws what its definitions throw. */
export async function askProgram({
  set,
  main,
  makeToolset,
}: TakenProgram): Promise<Omit<Look, 'needsZod'>> {
  await set.prepare?.()
  for (const { definition } of set.entries) await checkExamples(await definition.compiled())
  const print = async (
    argv: readonly string[],
    env: { readonly [name: string]: string } = {},
  ): Promise<string | undefined> => {
    const { io, said } = capturedIo(env)
    const status = await main(set, argv, io, quietHost(makeToolset))
    return status === 0 && said.stderr === '' ? said.stdout : undefined
  }
  const answers: Answer[] = []
  const answer = async (...variants: readonly (readonly string[])[]): Promise<void> => {
    const text = await print(variants[0]!)
    if (text !== undefined) answers.push({ questions: variants.map(writeQuestion), text })
  }
  const help = async (...variants: readonly (readonly string[])[]): Promise<void> => {
    await answer(...variants)
    const compact = await print(variants[0]!, AN_AGENT)
    if (compact !== undefined)
      answers.push({
        questions: variants.map((argv) => `agent ${writeQuestion(argv)}`),
        text: compact,
      })
  }
  // A shell reads through what stands before an answer: first what programs ask.
  await answer(['--version'], ['-V'])
  await answer(['--discover'])
  // The only tool of a program may take its input from a pipe when nothing is given.
  await help(['--help'], ['-h'], ...(set.entries.length === 1 ? [] : [[]]))
  await answer(['--tools'])
  await answer(['--manifest'])
  // What a shell asks at the first TAB behind the name of the program; what follows from a word that was begun is too much to write down.
  await answer([COMPLETE_COMMAND, '--', ''])
  for (const { name, path } of set.entries) {
    const spellings = [...new Set([path.join(' '), name])].map((spelling) => spelling.split(' '))
    await help(
      ...spellings.flatMap((words) => [
        [...words, '--help'],
        [...words, '-h'],
      ]),
    )
    await answer(...spellings.map((words) => [...words, '--manifest']))
  }
  const discovered: unknown = JSON.parse((await print(['--discover'])) ?? '{}')
  return {
    name: set.name,
    version: set.version,
    answers,
    manifest: await set.manifest(),
    serves: (discovered as { serve?: unknown }).serve !== undefined,
    schemas: listSchemas(set),
  }
}

function writeQuestion(argv: readonly string[]): string {
  return `${argv.length} ${argv.join(' ')}`
}

function listSchemas(set: Servable): Look['schemas'] {
  const sources = set.entries.flatMap(({ definition: { source } }) => [source.input, source.output])
  const records = sources.flatMap((source) =>
    typeof source === 'object' && source !== null && RECORD in source
      ? [{ source, record: (source as { [RECORD]: Recorded })[RECORD] }]
      : [],
  )
  const found = new Map<string, Look['schemas'][number]>()
  for (const { source, record } of records) {
    const fingerprint = record.fingerprint()
    const json = writeEarly(source)
    if (fingerprint !== undefined && json)
      found.set(fingerprint, { fingerprint, prepared: { json, exact: isExact(record) } })
  }
  return [...found.values()]
}
