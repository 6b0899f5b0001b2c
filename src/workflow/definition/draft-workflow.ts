import type { KeyPath } from '../../contract/documents/document.ts'
import { isObject } from '../../contract/json.ts'
import { checkReferences } from './check-references.ts'
import { DefinitionReader, shown } from './definition-reader.ts'
import type { Finding, Source } from './finding.ts'
import { NAME, WORKFLOW_KEYS } from './keys.ts'
import { stepsOf } from './kinds/compound.ts'
import { StepNames } from './name-steps.ts'
import { readInput } from './read-input.ts'
import { readSteps } from './read-steps.ts'
import type { StepsContext } from './read-steps.ts'
import type { Workflow } from './workflow-type.ts'

const MOST_STEPS = 5000
const DEEPEST = 10
const TEXTS = ['version', 'summary', 'description']
const LONGEST_SUMMARY = 200

/** A definition that has not been read yet. */
export type RawWorkflow = {
  readonly value: unknown
  readonly source: Source
  /** Its name where it says none. */ readonly name: string
}

/** What is the same for a workflow and all workflows in it. */
export type Drafting = {
  readonly findings: Finding[]
  /** The definition that a file holds; a text says why there is none. */
  nested(reference: string, from: Source): RawWorkflow | string
  /** Steps so far, those of other workflows among them. */
  readonly counted: { steps: number }
}

/** Reads a definition and everything in it; what is wrong goes to the findings. Undefined, and findings, where no workflow can be made of it. */
export function draftWorkflow(
  { value, source, name }: RawWorkflow,
  drafting: Drafting,
  chain: readonly string[] = [],
): Workflow | undefined {
  const reader = new DefinitionReader(source, drafting.findings)
  if (!isObject(value))
    return reader.find(
      [],
      `a workflow must be an object with 'steps'; got ${shown(value)}`,
      'Write steps: and a list below it',
    )
  reader.knownKeys(value, Object.keys(WORKFLOW_KEYS), [], 'a workflow')
  for (const key of TEXTS)
    if (value[key] !== undefined) reader.fits(WORKFLOW_KEYS[key]!, value[key], [key])
  if (typeof value['summary'] === 'string' && value['summary'].length > LONGEST_SUMMARY)
    reader.find(
      ['summary'],
      `'summary' has ${value['summary'].length} characters; it may have ${LONGEST_SUMMARY}`,
      'Put the rest into description',
    )
  if (
    value['name'] !== undefined &&
    (typeof value['name'] !== 'string' || !NAME.test(value['name']))
  )
    reader.find(
      ['name'],
      `a name has 1 to 64 letters, digits, _ and -, and is not 'finally'; got ${shown(value['name'])}`,
    )
  const context: StepsContext = {
    reader,
    names: new StepNames(value),
    depth: 0,
    count: () => {
      drafting.counted.steps += 1
      if (drafting.counted.steps === MOST_STEPS + 1)
        reader.find([], `there are more than ${MOST_STEPS} steps, those of other workflows counted`)
      return drafting.counted.steps <= MOST_STEPS
    },
    workflow: (nested, path) =>
      readNested(reader, drafting, nested, path, [...chain, source.file ?? '']),
  }
  if (value['steps'] === undefined) reader.find([], "a workflow needs 'steps'")
  const steps =
    value['steps'] === undefined ? [] : readSteps(context, value['steps'], ['steps'], 'steps')
  const last =
    value['finally'] === undefined
      ? []
      : Array.isArray(value['finally']) && value['finally'].length === 0
        ? []
        : readSteps(context, value['finally'], ['finally'], 'steps')
  const input =
    value['input'] === undefined ? undefined : readInput(reader, value['input'], ['input'])
  const output =
    value['output'] === undefined ? undefined : reader.value(value['output'], ['output'])
  const timeout =
    value['timeout'] === undefined ? undefined : reader.duration(value['timeout'], ['timeout'])
  checkReferences(reader, { steps, finally: last, output: output?.uses ?? [], input })
  return {
    name: typeof value['name'] === 'string' ? value['name'] : name,
    ...Object.fromEntries(
      TEXTS.filter((key) => value[key] !== undefined).map((key) => [key, value[key]]),
    ),
    ...(input && { input }),
    steps: stepsOf(steps),
    ...(last.length > 0 && { finally: stepsOf(last) }),
    ...(output && { output: output.value }),
    ...(timeout !== undefined && { timeout }),
  }
}

function readNested(
  reader: DefinitionReader,
  drafting: Drafting,
  value: unknown,
  path: KeyPath,
  chain: readonly string[],
): Workflow | undefined {
  if (chain.length > DEEPEST)
    return reader.find(path, `workflows are nested more than ${DEEPEST} levels deep`)
  if (typeof value !== 'string')
    return draftWorkflow(
      { value, source: inside(reader.source, path), name: 'workflow' },
      drafting,
      chain,
    )
  const raw = drafting.nested(value, reader.source)
  if (typeof raw === 'string') return reader.find(path, raw)
  const from = chain.indexOf(raw.source.file ?? '')
  if (raw.source.file !== undefined && from !== -1)
    return reader.find(
      path,
      `workflows contain each other: ${[...new Set(chain.slice(from)), raw.source.file].join(' → ')}`,
      'Take one of them out',
    )
  return draftWorkflow(raw, drafting, chain)
}

// A workflow that stands in another is found by the keys of both.
function inside(source: Source, path: KeyPath): Source {
  return { ...source, within: [...(source.within ?? []), ...path] }
}
