import { homedir, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { contains, realPath } from '../paths.ts'

const PLACES = ['/tmp', '/home', '/root', '/var/home', '/var/tmp', '/run']

/** A folder that the sandbox shows empty: as people write it, and as it really is called. */
export type HiddenPlace = { readonly written: string; readonly real: string }

/** Homes of users, temporary files, and the sockets of services; only what exists. */
export function listHiddenPlaces(): readonly HiddenPlace[] {
  const places = [...PLACES, tmpdir(), homedir()].flatMap((written) => {
    const real = realPath(written)
    return real === undefined || real === '/' ? [] : [{ written, real }]
  })
  return places.filter(
    ({ real }, index) =>
      !places.some((other, at) =>
        at < index
          ? contains(other.real, real)
          : at > index && other.real !== real && contains(other.real, real),
      ),
  )
}

/** Where a path of the host lies in the sandbox when it would be hidden there; undefined where it is seen anyway. */
export function placeInSandbox(path: string, hidden: readonly HiddenPlace[]): string | undefined {
  const place = hidden.find(({ written, real }) => contains(written, path) || contains(real, path))
  return (
    place &&
    join(place.real, relative(contains(place.written, path) ? place.written : place.real, path))
  )
}
