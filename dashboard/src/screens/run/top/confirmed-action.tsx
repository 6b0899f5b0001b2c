import { useState } from 'preact/hooks'
import { ActionButton } from '../../../parts/action-button.tsx'
import { ApiError } from '../../../state/api.ts'

type Props = {
  readonly label: string
  readonly primary?: boolean
  readonly disabled?: boolean
  send(confirm: boolean): Promise<unknown>
}

/**
 * A button that starts a tool. Where the tool is destructive, which the server knows, it has to be
 * pressed once more.
 */
export function ConfirmedAction({ label, primary = false, disabled = false, send }: Props) {
  const [needed, setNeeded] = useState(false)
  const run = async (): Promise<void> => {
    try {
      await send(needed)
    } catch (error) {
      if (needed || !(error instanceof ApiError) || error.code !== 'CONFIRMATION_REQUIRED')
        throw error
      setNeeded(true)
    }
  }
  return (
    <>
      <ActionButton
        label={needed ? `${label}, I confirm` : label}
        primary={primary}
        danger={needed}
        disabled={disabled}
        run={run}
      />
      {needed && (
        <span class="warn" role="status">
          What this tool does cannot be undone.
        </span>
      )}
    </>
  )
}
