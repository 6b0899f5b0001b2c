import type { ReadKind } from './kind.ts'

/** `workflow: ./other.yaml` */
export const readNested: ReadKind = (given, path, { reader, workflow }) => {
  const nested = workflow(given['workflow'], [...path, 'workflow'])
  const input =
    given['input'] === undefined ? undefined : reader.value(given['input'], [...path, 'input'])
  return {
    fields: nested && { workflow: nested, ...(input && { input: input.value }) },
    uses: input?.uses ?? [],
  }
}
