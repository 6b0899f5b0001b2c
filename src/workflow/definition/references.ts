/**
 * Checks that every expression refers to something that exists at that point: steps, inputs, items.
 */

import type { KeyPath } from '../../protocol/documents.ts'
import { describeUnknownName, findClosest, shorten } from '../../util/text.ts'
import type { JsonSchema } from '../../util/values.ts'
import { isObject } from '../../util/values.ts'
import type { PathExpression } from '../expression-parser.ts'
import type { DefinitionReader, ExpressionUse, StepDraft } from './reader.ts'

const STEP_RECORD_FIELDS = ['status', 'result', 'error', 'run_id', 'errors']
const WORKFLOW_FIELDS = ['id', 'name']
const ONLY_EARLIER = 'Only steps before it can be used'

/** What is checked: the steps of one workflow, and what else holds expressions. */
type CheckableWorkflow = {
  readonly steps: readonly StepDraft[]
  readonly finally: readonly StepDraft[]
  readonly output: readonly ExpressionUse[]
  readonly input: JsonSchema | undefined
}

/**
 * Reports every expression that refers to something that cannot exist: a step that comes later or
 * is elsewhere, an unknown name, a field that the input does not have.
 */
export function checkReferences(reader: DefinitionReader, checkable: CheckableWorkflow): void {
  const index = new StepIndex([...checkable.steps, ...checkable.finally])
  const check = new ReferenceChecker(reader, index, checkable.input)
  const top = new Set<string>()
  check.list(checkable.steps, top, [], false)
  check.list(checkable.finally, new Set(top), [], false)
  check.uses(checkable.output, undefined, top, [])
}

class ReferenceChecker {
  constructor(
    private readonly reader: DefinitionReader,
    private readonly index: StepIndex,
    private readonly input: JsonSchema | undefined,
  ) {}

  /** Steps in their order. Each one becomes visible to the next, unless they run concurrently. */
  list(
    drafts: readonly StepDraft[],
    visible: Set<string>,
    items: readonly string[],
    together: boolean,
  ): void {
    for (const draft of drafts) {
      this.uses(draft.uses, draft, visible, items)
      for (const part of draft.inside) {
        this.items(draft, part.items, items)
        this.list(part.drafts, new Set(visible), [...items, ...part.items], part.isParallel)
      }
      this.list(draft.compensate, new Set([...visible, draft.name]), items, false)
      if (!together) visible.add(draft.name)
    }
  }

  uses(
    uses: readonly ExpressionUse[],
    from: StepDraft | undefined,
    visible: ReadonlySet<string>,
    items: readonly string[],
  ): void {
    for (const { path, references } of uses)
      for (const reference of references) this.reference(reference, path, from, visible, items)
  }

  private report(path: KeyPath, message: string, fix: string): void {
    this.reader.at(...path).addProblem(message, fix)
  }

  private items(draft: StepDraft, names: readonly string[], around: readonly string[]): void {
    const taken = names.find((name) => around.includes(name))
    if (taken !== undefined)
      this.report(
        draft.path,
        `'${taken}' is already the name of an item around this step`,
        'Give it another name: as: other',
      )
  }

  private reference(
    { root, keys }: PathExpression,
    path: KeyPath,
    from: StepDraft | undefined,
    visible: ReadonlySet<string>,
    items: readonly string[],
  ): void {
    if (items.includes(root)) return
    if (root === 'steps') return this.step(keys, path, from, visible)
    if (root === 'workflow') return this.field('workflow', keys[0], WORKFLOW_FIELDS, path)
    if (root === 'input') return this.inputField(keys[0], path)
    const names = ['input', 'steps', 'workflow', ...items]
    // `scan.result` means the step.
    const meant = this.index.has(root) ? `steps.${root}` : findClosest(root, names)
    this.report(
      path,
      `nothing is called '${shorten(root, 60)}' here${meant === undefined ? '' : `; did you mean '${meant}'?`}`,
      `The names are ${names.join(', ')}; texts stand in quotes`,
    )
  }

  private step(
    [name, field]: PathExpression['keys'],
    path: KeyPath,
    from: StepDraft | undefined,
    visible: ReadonlySet<string>,
  ): void {
    if (name === undefined) return
    const wanted = String(name)
    if (visible.has(wanted)) return this.field(`steps.${wanted}`, field, STEP_RECORD_FIELDS, path)
    this.report(path, ...this.index.explain(wanted, from, [...visible]))
  }

  private field(
    of: string,
    field: string | number | undefined,
    known: readonly string[],
    path: KeyPath,
  ): void {
    if (field === undefined || known.includes(String(field))) return
    const meant = findClosest(String(field), known)
    this.report(
      path,
      `'${of}' has no '${shorten(String(field), 60)}'${meant === undefined ? '' : `; did you mean '${meant}'?`}`,
      `It has ${known.join(', ')}`,
    )
  }

  private inputField(field: string | number | undefined, path: KeyPath): void {
    const known = getFieldsIfUnknown(this.input, field)
    if (known)
      this.report(
        path,
        describeUnknownName('field of the input', String(field), known).message,
        `The fields are ${known.join(', ')}`,
      )
  }
}

type IndexedStep = {
  readonly draft: StepDraft
  /** From the outermost. */ readonly around: readonly StepDraft[]
}

/** Knows every step of a workflow, to explain why one cannot be used. */
class StepIndex {
  private readonly places = new Map<string, IndexedStep>()

  constructor(drafts: readonly StepDraft[]) {
    this.collect(drafts, [])
  }

  has(name: string): boolean {
    return this.places.has(name)
  }

  /** Message and advice for a step that is not visible from another. */
  explain(
    name: string,
    from: StepDraft | undefined,
    visible: readonly string[],
  ): readonly [string, string] {
    const place = this.places.get(name)
    if (!place)
      return [
        describeUnknownName('step', name, [...this.places.keys()]).message,
        visible.length === 0
          ? 'No step comes before this one'
          : `The steps before this one are ${shorten(visible.join(', '), 200)}`,
      ]
    if (place.draft === from) return [`the step '${name}' uses itself`, ONLY_EARLIER]
    const chain = from && this.findReferencePath(place.draft, from)
    if (chain)
      return [
        `the steps ${[from.name, ...chain].map((one) => `'${one}'`).join(' → ')} wait for each other`,
        'Take one of the references out',
      ]
    if (from && place.around.includes(from))
      return [
        `the step '${name}' is inside '${from.name}', which has not been taken yet`,
        ONLY_EARLIER,
      ]
    const outer = place.around.find((one) => visible.includes(one.name))
    if (outer)
      return [
        `the step '${name}' is inside '${outer.name}' and cannot be seen from outside`,
        `Use steps.${outer.name}.result`,
      ]
    const user = from && this.places.get(from.name)
    if (user?.draft === from && user?.around.some((one) => place.around.includes(one)))
      return [`the step '${name}' is taken at the same time or later`, ONLY_EARLIER]
    return [
      `the step '${name}' comes later`,
      'Move it before this step, or use a step that comes before',
    ]
  }

  private collect(drafts: readonly StepDraft[], around: readonly StepDraft[]): void {
    for (const draft of drafts) {
      if (!this.places.has(draft.name)) this.places.set(draft.name, { draft, around })
      for (const list of [...draft.inside.map((part) => part.drafts), draft.compensate])
        this.collect(list, [...around, draft])
    }
  }

  // The names from one step to another along the steps that each of them uses.
  private findReferencePath(from: StepDraft, to: StepDraft): readonly string[] | undefined {
    const seen = new Set<StepDraft>()
    const search = (draft: StepDraft): readonly string[] | undefined => {
      if (draft === to) return [draft.name]
      if (seen.has(draft)) return undefined
      seen.add(draft)
      for (const name of listUsedSteps(draft)) {
        const next = this.places.get(name)?.draft
        const rest = next && search(next)
        if (rest) return [draft.name, ...rest]
      }
      return undefined
    }
    return search(from)
  }
}

function listUsedSteps(draft: StepDraft): readonly string[] {
  const own = draft.uses.flatMap(({ references }) =>
    references
      .filter(({ root, keys }) => root === 'steps' && keys[0] !== undefined)
      .map(({ keys }) => String(keys[0])),
  )
  return [...own, ...draft.inside.flatMap((part) => part.drafts.flatMap(listUsedSteps))]
}

// With any of these, a field may exist that `properties` does not name.
const OPEN_KEYWORDS = [
  'additionalProperties',
  'patternProperties',
  'unevaluatedProperties',
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  '$ref',
  '$dynamicRef',
  'dependentSchemas',
]

/**
 * The fields of a schema if it is certain that it does not have this one; undefined if it may have
 * it.
 */
export function getFieldsIfUnknown(
  schema: JsonSchema | undefined,
  field: string | number | undefined,
): readonly string[] | undefined {
  const properties = schema?.['properties']
  if (
    schema === undefined ||
    field === undefined ||
    !isObject(properties) ||
    Object.hasOwn(properties, field)
  )
    return undefined
  const open = OPEN_KEYWORDS.some(
    (keyword) => Object.hasOwn(schema, keyword) && schema[keyword] !== false,
  )
  return open ? undefined : Object.keys(properties)
}
