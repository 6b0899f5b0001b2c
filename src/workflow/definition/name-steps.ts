import type { KeyPath } from '../../contract/documents/document.ts'
import { formatPath } from '../../define/schema/value-path.ts'
import { shown } from './definition-reader.ts'
import type { DefinitionReader } from './definition-reader.ts'
import { NAME } from './keys.ts'
import { rawSteps } from './raw-steps.ts'

/** Gives every step of one workflow its name: the one that it was given, or its kind and position, in a way that two never share one where both could be meant. */
export class StepNames {
  private readonly given: Set<string>
  private readonly first = new Map<string, KeyPath>()

  constructor(workflow: unknown) {
    this.given = new Set(
      [...rawSteps(workflow, 'own')].flatMap(({ name }) =>
        typeof name === 'string' ? [name] : [],
      ),
    )
  }

  nameOf(reader: DefinitionReader, name: unknown, automatic: string, path: KeyPath): string {
    if (name === undefined) return this.free(automatic)
    if (typeof name !== 'string' || !NAME.test(name)) {
      reader.find(
        [...path, 'name'],
        `a name has 1 to 64 letters, digits, _ and -, and is not 'finally'; got ${shown(name)}`,
      )
      return automatic
    }
    // A definition that was written out has these everywhere; it means its place in the list.
    if (name === automatic) return name
    const before = this.first.get(name)
    if (before)
      reader.find(
        [...path, 'name'],
        `the name '${name}' is there twice: the first is ${formatPath(before)}`,
        'Give one of them another name',
      )
    else this.first.set(name, path)
    return name
  }

  private free(automatic: string): string {
    if (!this.given.has(automatic)) return automatic
    let count = 2
    while (this.given.has(`${automatic}-${count}`)) count += 1
    this.given.add(`${automatic}-${count}`)
    return `${automatic}-${count}`
  }
}
