{-# LANGUAGE GADTs #-}
{-# LANGUAGE LambdaCase #-}

-- | Orders of a small bakery.
module Bakery.Order
  ( Order (..)
  , total
  , mkOrder
  ) where

import Control.Monad (unless, when)
import qualified Data.Map.Strict as Map
import Data.Text (Text)

-- | What can be ordered.
data Item
  = Bread { grain :: Text, weight :: !Int }
  -- | Sold by the dozen.
  | Roll
  | Cake Text Int
  deriving (Eq, Show)

-- | Price in cents.
newtype Price = Price { cents :: Int }
  deriving newtype (Eq, Ord, Num)

type Basket = Map.Map Text [Item]

data Expr a where
  Lit :: Int -> Expr Int
  IsZero :: Expr Int -> Expr Bool

-- | Things with a price.
class Show a => Priced a where
  -- | Looks the price up.
  price :: a -> Price
  discounted :: a -> Price
  discounted x = half (price x)
  {-# MINIMAL price #-}

instance Priced Item where
  price (Bread _ w) = Price (w `div` 4)
  price Roll = Price 35
  price (Cake name n)
    | n > 10 = Price 2000
    | otherwise = lookupCake name

instance (Priced a, Priced b) => Priced (Either a b) where
  price = either price price

class (Monad m, Alternative m) => MonadOven m where
  type Heat m :: *
  bake :: Item -> m ()

type family Shelf a where
  Shelf Item = Int

-- | An order as it came in.
data Order = Order
  { orderItems :: [Item]
  , customer :: Maybe Text
  -- ^ Nobody, for the shop window.
  }

-- | Sums the order up.
--
-- Empty orders cost nothing.
total :: Order -> Price
total (Order [] _) = 0
total order =
  let base = sum (map price (orderItems order))
      extra = surcharge order
   in base + extra
  where
    surcharge o = when' (length (orderItems o) > limit)
    when' True = Price 100
    when' False = 0

limit :: Int
limit = 12

-- A smart constructor.
mkOrder
  :: [Item]
  -> Maybe Text
  -> Either String Order
mkOrder items name = do
  unless (not (null items)) $ Left "nothing ordered"
  checked <- traverse check items
  pure $ Order checked name

infixl 6 <+>

(<+>) :: Order -> Order -> Order
a <+> b = Order (orderItems a ++ orderItems b) (customer a)

half, third :: Price -> Price
half (Price p) = Price (p `div` 2)
third (Price p) = Price (p `div` 3)

pattern Empty :: Order
pattern Empty = Order [] Nothing

foreign import ccall "math.h sin" c_sin :: Double -> Double

deriving instance Show Order

deriveJSON defaultOptions ''Order

main :: IO ()
main = print (total (Order [Roll] Nothing)) >>= \case
  () -> pure ()

(low, high) = bounds rows

#if MIN_VERSION_base(4,8,0)
oldest :: [Int] -> Int
oldest = minimum
#else
newest :: [Int] -> Int
newest rows = case rows of
#ifdef STRICT
  [] -> 0
#else
  [] -> 1
#endif
  _ -> maximum rows
#endif
