import { useEffect, useRef } from 'preact/hooks'
import { keys } from '../../state/keys.ts'

/** The keys that work on this screen. */
export function KeyList({ onClose }: { onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  const shown = keys.value.flat().filter(({ label }) => label !== '')
  return (
    <dialog
      ref={dialog}
      class="keys"
      aria-label="Keys"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <h2>Keys</h2>
      <dl>
        {shown.map(({ key, label }) => (
          <div key={label}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  )
}
