import type { ToolList, ToolProblem, ToolRow } from '../../../../src/views/model/api.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Path } from '../../parts/path.tsx'
import { toolPath } from './tool-table.tsx'

/**
 * What could not become a tool, and tools with something wrong about them: why, and what mends it.
 */
export function Problems({ problems }: { readonly problems: readonly ToolProblem[] }) {
  if (problems.length === 0) return null
  const sorted = [...problems].sort((left, right) => left.severity.localeCompare(right.severity))
  return (
    <section class="card">
      <h2>
        Refused, and what to mend <span class="count">{problems.length}</span>
      </h2>
      <div class="scroll-x">
        <table class="roomy" aria-label="Refused">
          <thead>
            <tr>
              <th>Level</th>
              <th>Where</th>
              <th class="wide">Reason</th>
              <th class="wide">Fix</th>
            </tr>
          </thead>
          <tbody>
            {sorted.map((one) => (
              <tr>
                <td>
                  {one.severity === 'error' ? (
                    <span class="bad">✗ refused</span>
                  ) : (
                    <span class="warn">! warning</span>
                  )}
                </td>
                <td class="wrap">
                  <Path path={one.location} />
                  <br />
                  <span class="dim">{one.source}</span>
                </td>
                <td class="wide wrap">
                  <code>{one.reason}</code> {one.message}
                </td>
                <td class="wide wrap">
                  {one.fix}
                  {one.fix !== '' && (
                    <>
                      <br />
                      <CopyButton label="Copy fix" text={one.fix} />
                    </>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

/** Tools that another of the same name stands before. */
export function Shadowed({ rows }: { readonly rows: readonly ToolRow[] }) {
  if (rows.length === 0) return null
  return (
    <section class="card">
      <h2>
        Shadowed <span class="count">{rows.length}</span>
      </h2>
      <p class="dim">
        Another tool of the same name comes first; these are called by their whole id.
      </p>
      <div class="scroll-x">
        <table class="roomy" aria-label="Shadowed">
          <thead>
            <tr>
              <th>Tool</th>
              <th>Shadowed by</th>
              <th>Source</th>
              <th class="wide">Where</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.id}>
                <td>
                  <a class="subject" href={toolPath(row.id)}>
                    {row.id}
                  </a>
                </td>
                <td>
                  <a href={toolPath(row.shadowed_by!)}>{row.shadowed_by}</a>
                </td>
                <td>{row.source}</td>
                <td class="wide wrap">
                  <Path path={row.location} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

/** Where tools come from. */
export function Sources({ sources }: Pick<ToolList, 'sources'>) {
  return (
    <details class="card">
      <summary>
        <h2>
          Sources <span class="count">{sources.length}</span>
        </h2>
      </summary>
      <div class="scroll-x">
        <table class="roomy" aria-label="Sources">
          <thead>
            <tr>
              <th>Source</th>
              <th>Kind</th>
              <th class="wide">Where</th>
              <th class="right">Tools</th>
              <th class="right">Problems</th>
            </tr>
          </thead>
          <tbody>
            {sources.map((source) => (
              <tr key={source.name}>
                <td>
                  <a href={`/tools?source=${encodeURIComponent(source.name)}`}>{source.name}</a>
                </td>
                <td>{source.kind}</td>
                <td class="wide wrap">
                  <Path path={source.location} />
                </td>
                <td class="right">{source.tools}</td>
                <td class={source.problems > 0 ? 'right warn' : 'right dim'}>{source.problems}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}
