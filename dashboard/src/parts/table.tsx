import type { ComponentChildren } from 'preact'

/** A column of a table. */
export type Column<Row> = {
  readonly head: ComponentChildren
  /** Explains the head on hover. */
  readonly title?: string
  /** Classes of its cells; the head is aligned like them. */
  readonly class?: string
  cell(row: Row): ComponentChildren
}

type TableProps<Row> = {
  readonly label: string
  readonly class?: string
  readonly rows: readonly Row[]
  readonly columns: readonly (Column<Row> | false)[]
  rowKey(row: Row): string | number
  isSelected?(row: Row): boolean
}

/** A table that scrolls sideways where it does not fit. */
export function Table<Row>({ label, rows, columns, rowKey, isSelected, ...look }: TableProps<Row>) {
  const shown = columns.filter((column) => column !== false)
  return (
    <div class="scroll-x">
      <table aria-label={label} {...look}>
        <thead>
          <tr>
            {shown.map((column, index) => (
              <th key={index} class={headClass(column)} title={column.title}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} class={isSelected?.(row) ? 'selected' : undefined}>
              {shown.map((column, index) => (
                <td key={index} class={column.class}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function headClass({ class: name = '' }: { readonly class?: string }): string | undefined {
  return /\b(?:right|wide)\b/.exec(name)?.[0]
}

/** Stands where there is nothing to show. */
export function Dash() {
  return <span class="dim">–</span>
}

/** A name and a value in a list of facts; nothing where there is no value. */
export function Fact({
  name,
  children,
}: {
  readonly name: string
  readonly children?: ComponentChildren
}) {
  if (children === undefined || children === null || children === false) return null
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
