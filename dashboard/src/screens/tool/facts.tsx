import type { JsonObject } from '../../../../src/util/values.ts'
import type { ToolDetail } from '../../../../src/views/model/api.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { Permissions } from '../tools/tool-table.tsx'

/** Examples, permissions, error codes and notes of a tool, as far as it has them. */
export function Facts({
  detail: { examples, errors, notes, permissions, row },
  onExample,
}: {
  readonly detail: ToolDetail
  onExample(input: JsonObject): void
}) {
  return (
    <div class="cards">
      {examples.length > 0 && (
        <section class="card">
          <h2>Examples</h2>
          <ul class="examples">
            {examples.map(({ description, input, args }, index) => (
              <li>
                {input ? (
                  <button
                    type="button"
                    aria-label={`Use example ${index + 1}`}
                    onClick={() => onExample(input)}
                  >
                    Use
                  </button>
                ) : null}
                <span>
                  {description ?? `Example ${index + 1}`}
                  <br />
                  <code class="dim">{input ? JSON.stringify(input) : args?.join(' ')}</code>
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section class="card">
        <h2>Permissions</h2>
        <Permissions of={row.permissions} />
        {permissions !== undefined && (
          <details>
            <summary class="dim">As written</summary>
            <JsonView value={permissions} />
          </details>
        )}
      </section>
      {errors.length > 0 && (
        <section class="card">
          <h2>Error codes</h2>
          <dl class="errors">
            {errors.map(({ code, description }) => (
              <div key={code}>
                <dt>
                  <code>{code}</code>
                </dt>
                <dd class="dim">{description}</dd>
              </div>
            ))}
          </dl>
        </section>
      )}
      {notes.length > 0 && (
        <section class="card">
          <h2>Notes</h2>
          <ul>
            {notes.map((note) => (
              <li class="wrap">{note}</li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}
