<?php
/**
 * Posts quotes and orders to cartbus: what its own endpoint takes (services/kit/storefront/generic.c), signed with the shop's secret.
 * Nothing that fails here reaches the shopper.
 */
declare(strict_types=1);

namespace Cartbus\Notify\Observer;

use Magento\Framework\App\Config\ScopeConfigInterface;
use Magento\Framework\Event\Observer;
use Magento\Framework\Event\ObserverInterface;
use Magento\Framework\HTTP\Client\Curl;
use Magento\Framework\UrlInterface;
use Magento\Store\Model\ScopeInterface;
use Psr\Log\LoggerInterface;

class Post implements ObserverInterface
{
    private const PATIENCE_S = 2;

    public function __construct(
        private ScopeConfigInterface $config,
        private Curl $curl,
        private UrlInterface $url,
        private LoggerInterface $logger
    ) {
    }

    public function execute(Observer $observer): void
    {
        try {
            $quote = $observer->getEvent()->getQuote();
            $order = $observer->getEvent()->getOrder();
            if ($order) {
                $this->post($this->orderBody($order, $observer->getEvent()->getName()), $order->getStoreId());
            } elseif ($quote && $quote->getId() && $quote->getIsActive()) {
                $this->post($this->quoteBody($quote), $quote->getStoreId());
            }
        } catch (\Throwable $error) {
            $this->logger->warning('cartbus: ' . $error->getMessage());
        }
    }

    private function quoteBody($quote): array
    {
        $items = [];
        foreach ($quote->getAllVisibleItems() as $item) {
            $items[] = [
                'title' => (string) $item->getName(),
                'sku' => (string) $item->getSku(),
                'product_id' => (string) $item->getProductId(),
                'quantity' => max(1, (int) $item->getQty()),
                'price' => number_format((float) $item->getPriceInclTax(), 2, '.', ''),
                'link' => $item->getProduct() ? $item->getProduct()->getProductUrl() : null,
            ];
        }
        return [
            'event' => 'changed',
            'cart' => 'quote-' . $quote->getId(),
            'email' => $quote->getCustomerEmail() ?: $quote->getBillingAddress()->getEmail(),
            'customer_id' => $quote->getCustomerId() ? (string) $quote->getCustomerId() : null,
            'first_name' => $quote->getCustomerFirstname() ?: $quote->getBillingAddress()->getFirstname(),
            'currency' => $quote->getQuoteCurrencyCode(),
            'total' => number_format((float) $quote->getGrandTotal(), 2, '.', ''),
            'recovery_url' => $this->url->getUrl('checkout/cart'),
            'items' => $items,
        ];
    }

    private function orderBody($order, string $event): array
    {
        return [
            'event' => $event === 'order_cancel_after' ? 'cancelled' : 'checked_out',
            'cart' => 'quote-' . $order->getQuoteId(),
            'email' => $order->getCustomerEmail(),
            'order_id' => (string) $order->getIncrementId(),
            'currency' => $order->getOrderCurrencyCode(),
            'total' => number_format((float) $order->getGrandTotal(), 2, '.', ''),
        ];
    }

    private function post(array $body, $store): void
    {
        $url = (string) $this->config->getValue('cartbus/notify/url', ScopeInterface::SCOPE_STORE, $store);
        $secret = (string) $this->config->getValue('cartbus/notify/secret', ScopeInterface::SCOPE_STORE, $store);
        if ($url === '' || $secret === '') {
            return;
        }
        $body['at'] = gmdate('Y-m-d\TH:i:s\Z');
        $body['id'] = bin2hex(random_bytes(16));
        $text = json_encode($body, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
        $stamp = (string) time();
        $this->curl->setTimeout(self::PATIENCE_S);
        $this->curl->addHeader('Content-Type', 'application/json');
        $this->curl->addHeader('X-Cartbus-Timestamp', $stamp);
        $this->curl->addHeader('X-Cartbus-Signature', hash_hmac('sha256', $stamp . '.' . $text, $secret));
        $this->curl->post($url, $text);
        if ($this->curl->getStatus() !== 200) {
            $this->logger->warning('cartbus answered ' . $this->curl->getStatus());
        }
    }
}
