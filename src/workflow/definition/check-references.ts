import { closest } from '../../contract/did-you-mean.ts'
import type { KeyPath } from '../../contract/documents/document.ts'
import { shorten } from '../../contract/shorten.ts'
import { unknownName } from '../../contract/unknown-name.ts'
import type { JsonSchema } from '../../contract/json.ts'
import type { PathExpression } from '../expressions/syntax.ts'
import type { DefinitionReader } from './definition-reader.ts'
import type { Draft, Use } from './draft.ts'
import { indexSteps } from './index-steps.ts'
import type { StepIndex } from './index-steps.ts'
import { findUnknownField } from './input-fields.ts'

const RECORD = ['status', 'result', 'error', 'run_id', 'errors']
const WORKFLOW = ['id', 'name']

/** What is checked: the steps of one workflow, and what else holds expressions. */
export type Checkable = {
  readonly steps: readonly Draft[]
  readonly finally: readonly Draft[]
  readonly output: readonly Use[]
  readonly input: JsonSchema | undefined
}

/** Notes every expression that asks for what cannot be there: a step that comes later or is somewhere else, a name that nobody has, a field that the input does not have. */
export function checkReferences(reader: DefinitionReader, checkable: Checkable): void {
  const index = indexSteps([...checkable.steps, ...checkable.finally])
  const check = new ReferenceCheck(reader, index, checkable.input)
  const top = new Set<string>()
  check.list(checkable.steps, top, [], false)
  check.list(checkable.finally, new Set(top), [], false)
  check.uses(checkable.output, undefined, top, [])
}

class ReferenceCheck {
  private readonly reader: DefinitionReader
  private readonly index: StepIndex
  private readonly input: JsonSchema | undefined

  constructor(reader: DefinitionReader, index: StepIndex, input: JsonSchema | undefined) {
    this.reader = reader
    this.index = index
    this.input = input
  }

  /** Steps in their order; `visible` grows by each of them, unless they know nothing of each other. */
  list(
    drafts: readonly Draft[],
    visible: Set<string>,
    items: readonly string[],
    together: boolean,
  ): void {
    for (const draft of drafts) {
      this.uses(draft.uses, draft, visible, items)
      for (const part of draft.inside) {
        this.items(draft, part.items, items)
        this.list(part.drafts, new Set(visible), [...items, ...part.items], part.together)
      }
      this.list(draft.compensate, new Set([...visible, draft.name]), items, false)
      if (!together) visible.add(draft.name)
    }
  }

  uses(
    uses: readonly Use[],
    from: Draft | undefined,
    visible: ReadonlySet<string>,
    items: readonly string[],
  ): void {
    for (const { path, references } of uses)
      for (const reference of references) this.reference(reference, path, from, visible, items)
  }

  private items(draft: Draft, names: readonly string[], around: readonly string[]): void {
    const taken = names.find((name) => around.includes(name))
    if (taken !== undefined)
      this.reader.find(
        draft.path,
        `'${taken}' is already the name of an item around this step`,
        'Give it another name: as: other',
      )
  }

  private reference(
    { root, keys }: PathExpression,
    path: KeyPath,
    from: Draft | undefined,
    visible: ReadonlySet<string>,
    items: readonly string[],
  ): void {
    if (items.includes(root)) return
    if (root === 'steps') return this.step(keys, path, from, visible)
    if (root === 'workflow') return this.field('workflow', keys[0], WORKFLOW, path)
    if (root === 'input') return this.inputField(keys[0], path)
    const names = ['input', 'steps', 'workflow', ...items]
    // Whoever writes `scan.result` means the step.
    const meant = this.index.has(root) ? `steps.${root}` : closest(root, names)
    this.reader.find(
      path,
      `nothing is called '${shorten(root, 60)}' here${meant === undefined ? '' : `; did you mean '${meant}'?`}`,
      `The names are ${names.join(', ')}; texts stand in quotes`,
    )
  }

  private step(
    [name, field]: PathExpression['keys'],
    path: KeyPath,
    from: Draft | undefined,
    visible: ReadonlySet<string>,
  ): void {
    if (name === undefined) return
    const wanted = String(name)
    if (visible.has(wanted)) return this.field(`steps.${wanted}`, field, RECORD, path)
    this.reader.find(path, ...this.index.explain(wanted, from, [...visible]))
  }

  private field(
    of: string,
    field: string | number | undefined,
    known: readonly string[],
    path: KeyPath,
  ): void {
    if (field === undefined || known.includes(String(field))) return
    const meant = closest(String(field), known)
    this.reader.find(
      path,
      `'${of}' has no '${shorten(String(field), 60)}'${meant === undefined ? '' : `; did you mean '${meant}'?`}`,
      `It has ${known.join(', ')}`,
    )
  }

  private inputField(field: string | number | undefined, path: KeyPath): void {
    const known = findUnknownField(this.input, field)
    if (known)
      this.reader.find(
        path,
        unknownName('field of the input', String(field), known).message,
        `The fields are ${known.join(', ')}`,
      )
  }
}
