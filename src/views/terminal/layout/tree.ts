import type { RunModel } from '../../model/run-model/run-model-type.ts'
import { foldRows } from './fold.ts'
import { renderRow } from './row.ts'
import { runRows } from './run-rows.ts'
import type { TreeOptions } from './run-rows.ts'

/** What is shown of a run. */
export type ShownTree = { readonly model: RunModel; readonly options: TreeOptions }

/** The lines of one or more trees, each narrower than the window; no more than `height` of them. */
export function treeLines(
  trees: readonly ShownTree[],
  { columns, height }: { readonly columns: number; readonly height: number },
): readonly string[] {
  const [first] = trees
  if (!first) return []
  const { look } = first.options
  const rows = trees.flatMap(({ model, options }) => runRows(model, options))
  return foldRows(rows, height, look.glyphs.cut).map((row) => renderRow(row, columns, look))
}
