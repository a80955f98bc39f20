import React, { forwardRef, useState, type ReactNode } from 'react';
import styles from './panel.module.css';

/** Properties of a panel. */
export interface PanelProps extends React.HTMLAttributes<HTMLDivElement> {
  title: string;
  children?: ReactNode;
  onToggle?(open: boolean): void;
}

type Size = 'small' | 'large';

const SIZES: Record<Size, number> = { small: 200, large: 400 };

export const PanelContext = React.createContext<{ open: boolean }>({ open: false });

/** A box that opens and closes. */
export function Panel({ title, children, onToggle, ...rest }: PanelProps): JSX.Element {
  const [open, setOpen] = useState(false);
  const toggle = () => {
    setOpen(!open);
    onToggle?.(!open);
  };
  return (
    <PanelContext.Provider value={{ open }}>
      <div className={styles.panel} {...rest}>
        <Panel.Header title={title} onClick={toggle} />
        {open && <Collapse timeout={200}>{children}</Collapse>}
      </div>
    </PanelContext.Provider>
  );
}

Panel.Header = function Header({ title, onClick }: { title: string; onClick: () => void }) {
  return <button onClick={onClick}>{title}</button>;
};

Panel.displayName = 'Panel';

/** Text input that hands its element out. */
export const TextInput = forwardRef<HTMLInputElement, { label: string }>(({ label }, ref) => (
  <label>
    {label} <input ref={ref} />
  </label>
));

const List = React.memo(function List<T,>({ items }: { items: T[] }) {
  return <ul>{items.map((item) => <Row key={String(item)} item={item} />)}</ul>;
});

// Reads the width of the window.
export const useWidth = (size: Size = 'small'): number => {
  const [width] = useState(() => window.innerWidth);
  return Math.max(width, SIZES[size]);
};

export class ErrorBoundary extends React.Component<{ fallback: ReactNode }, { error?: Error }> {
  state = { error: undefined };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  render() {
    return this.state.error ? this.props.fallback : this.props.children;
  }
}

export default () => <Panel title="Empty" />;
