import { about } from '../state/about.ts'

/** A path as it is read best: what lies in the project without the way to it. */
export function Path({ path }: { readonly path: string | undefined }) {
  const start = `${about.value?.project ?? ''}/`
  return path === undefined ? null : (
    <code title={path}>
      {start !== '/' && path.startsWith(start) ? path.slice(start.length) : path}
    </code>
  )
}
