import type { RunRow } from '../../../src/views/model/api.ts'
import { about } from '../state/about.ts'

/** The address of a run, both of its screen and, below `/api`, of its document. */
export function runPath(id: string): string {
  return `/runs/${encodeURIComponent(id)}`
}

/** The address of a tool. */
export function toolPath(id: string): string {
  return `/tools/${encodeURIComponent(id)}`
}

/** The address of a workflow. */
export function workflowPath(name: string): string {
  return `/workflows/${encodeURIComponent(name)}`
}

/** A link to a run, by its id. */
export function RunLink({ id }: { readonly id: string }) {
  return (
    <a class="mono" href={runPath(id)}>
      {id}
    </a>
  )
}

/** A link to a tool, by its id. */
export function ToolLink({ id, class: name }: { readonly id: string; readonly class?: string }) {
  return (
    <a class={name} href={toolPath(id)}>
      {id}
    </a>
  )
}

/** What ran: a tool or a workflow, as a link to it. */
export function Subject({ row }: { readonly row: Pick<RunRow, 'tool' | 'workflow'> }) {
  if (row.workflow !== undefined)
    return (
      <a class="subject" href={workflowPath(row.workflow)}>
        <svg
          class="kind"
          role="img"
          aria-label="workflow"
          width="12"
          height="12"
          viewBox="0 0 12 12"
        >
          <path d="M3 4v4M4 3h2.5a2 2 0 0 1 2 2v1" />
          <circle cx="3" cy="2.5" r="1.5" />
          <circle cx="3" cy="9.5" r="1.5" />
          <circle cx="8.5" cy="7.5" r="1.5" />
        </svg>
        {row.workflow}
      </a>
    )
  return <ToolLink class="subject" id={row.tool} />
}

/** A path as it is read best: what lies in the project without the way to it. */
export function Path({ path }: { readonly path: string | undefined }) {
  const start = `${about.value?.project ?? ''}/`
  return path === undefined ? null : (
    <code title={path}>
      {start !== '/' && path.startsWith(start) ? path.slice(start.length) : path}
    </code>
  )
}
