import type { PlannedNode } from '../../../../src/views/model/api.ts'
import { JsonView } from '../../parts/json-view.tsx'

/** What a step of a definition is and demands. */
export function PlannedStep({ step }: { readonly step: PlannedNode }) {
  const {
    key,
    kind,
    role,
    tool,
    command,
    question,
    workflow,
    when,
    needs,
    input,
    timeout,
    concurrency,
    retry,
    on_error,
  } = step
  const facts: readonly (readonly [string, unknown])[] = [
    ['Kind', role === 'step' ? kind : `${kind}, ${role}`],
    ['Tool', tool],
    ['Command', command],
    ['Question', question],
    ['Workflow', workflow],
    ['If', when],
    ['Needs', needs.join(', ') || undefined],
    ['Timeout', timeout === undefined ? undefined : `${timeout} s`],
    ['At once', concurrency],
    ['If it fails', on_error],
  ]
  return (
    <section class="planned" aria-label={`Step ${key}`}>
      <h3>{key}</h3>
      <dl class="facts">
        {facts
          .filter(([, value]) => value !== undefined)
          .map(([name, value]) => (
            <div key={name}>
              <dt class="dim">{name}</dt>
              <dd>
                {name === 'Tool' ? (
                  <a href={`/tools/${encodeURIComponent(String(value))}`}>{String(value)}</a>
                ) : (
                  String(value)
                )}
              </dd>
            </div>
          ))}
      </dl>
      {input !== undefined && (
        <>
          <h3>Input</h3>
          <JsonView value={input} />
        </>
      )}
      {retry !== undefined && (
        <>
          <h3>Retry</h3>
          <JsonView value={retry} />
        </>
      )}
    </section>
  )
}
