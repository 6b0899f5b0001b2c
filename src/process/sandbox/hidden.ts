import { realpathSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join, relative, sep } from 'node:path'

const PLACES = ['/tmp', '/home', '/root', '/var/home', '/var/tmp', '/run']

/** A folder that the sandbox shows empty: as people write it, and as it really is called. */
export type HiddenPlace = { readonly written: string; readonly real: string }

/** Homes of users, temporary files, and the sockets of services; only what exists. */
export function listHiddenPlaces(): readonly HiddenPlace[] {
  const places = [...PLACES, tmpdir(), homedir()].flatMap((written) => {
    const real = realPath(written)
    return real === undefined || real === '/' ? [] : [{ written, real }]
  })
  return places.filter(({ real }, index) => !places.some((other, at) => (at < index ? contains(other.real, real) : at > index && other.real !== real && contains(other.real, real))))
}

/** Whether a path is the folder or lies in it. */
export function contains(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** Where a path of the host lies in the sandbox when it would be hidden there; undefined where it is seen anyway. */
export function placeInSandbox(path: string, hidden: readonly HiddenPlace[]): string | undefined {
  const place = hidden.find(({ written, real }) => contains(written, path) || contains(real, path))
  return place && join(place.real, relative(contains(place.written, path) ? place.written : place.real, path))
}

/** The path without links, or undefined where there is nothing. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}
