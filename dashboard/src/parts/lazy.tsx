import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Empty, Loading } from './notes.tsx'

/** A screen, or a part of one, whose script is loaded when it is first shown. */
export function lazy<Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined
  return function Lazy(props) {
    const [state, setState] = useState<'ready' | 'failed'>()
    useEffect(() => {
      if (loaded) return
      load().then(
        (module) => {
          loaded = module.default
          setState('ready')
        },
        () => setState('failed'),
      )
    }, [])
    if (loaded) {
      const Screen = loaded
      return <Screen {...props} />
    }
    // Another version of the server has other scripts.
    return state === 'failed' ? (
      <Empty title="This part of the page could not be loaded">
        <p>The server is away, or another version of it runs now.</p>
        <p>
          <button type="button" onClick={() => location.reload()}>
            Load the page anew
          </button>
        </p>
      </Empty>
    ) : (
      <Loading />
    )
  }
}
